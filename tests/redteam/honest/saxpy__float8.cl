// options: -cl-mad-enable
// launch: grid=(ceil(N/512)) block=(64) shared=0
__kernel void saxpy(__global const float* restrict x, __global float* restrict y, float alpha, int N) {
    int i = get_global_id(0);
    if (8 * i + 7 < N)
        vstore8(alpha * vload8(i, x) + vload8(i, y), i, y);
    else
        for (int k = 8 * i; k < N; ++k) y[k] = alpha * x[k] + y[k];
}
