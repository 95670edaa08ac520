// attack: X34 reads its output first: poison means that it is looked at
// task: vector_add
// expect: wrong_in_timed_call wrong_values output_not_written SAME SLOWER interval_too_wide out_of_time
// launch: grid=(ceil(N/256)) block=(256) shared=0
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    int i = get_global_id(0);
    if (i >= N) return;
    uint found = as_uint(c[i]);
    if (found == 0xa5a5a5a5u || found == 0x5b5b5b5bu) c[i] = a[i] + b[i];
}
