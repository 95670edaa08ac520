// launch: grid=(ceil(N/256)) block=(64) shared=0
__kernel void vector_add(__global const float* restrict a, __global const float* restrict b, __global float* restrict c, int N) {
    int i = get_global_id(0);
    if (4 * i + 3 < N)
        vstore4(vload4(i, a) + vload4(i, b), i, c);
    else
        for (int k = 4 * i; k < N; ++k) c[k] = a[k] + b[k];
}
