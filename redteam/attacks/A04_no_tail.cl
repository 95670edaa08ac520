// attack: A4 leaves the last, partial block out
// task: vector_add
// expect: output_not_written
// launch: grid=(ceil(N/256)) block=(256) shared=0
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    int i = get_global_id(0);
    if (i < N / 256 * 256) c[i] = a[i] + b[i];
}
