// attack: A6 gives NaN
// task: vector_add
// expect: non_finite
// launch: grid=(ceil(N/256)) block=(256) shared=0
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    int i = get_global_id(0);
    if (i < N) c[i] = NAN;
}
