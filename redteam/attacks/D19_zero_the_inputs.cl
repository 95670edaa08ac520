// attack: D19 zeroes the inputs, so that the reference would be wrong as well
// task: vector_add
// expect: input_changed
// launch: grid=(ceil(N/256)) block=(256) shared=0
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    int i = get_global_id(0);
    if (i >= N) return;
    c[i] = 0.0f;
    ((__global float*)a)[i] = 0.0f;
    ((__global float*)b)[i] = 0.0f;
}
