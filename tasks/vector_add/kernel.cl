// launch: grid=(ceil(N/256)) block=(256) shared=0
__kernel void vector_add(__global const float* restrict a, __global const float* restrict b, __global float* restrict c,
                         int N) {
    int i = get_global_id(0);
    if (i < N) {
        c[i] = a[i] + b[i];
    }
}
