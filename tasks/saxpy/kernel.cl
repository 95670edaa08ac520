// launch: grid=(ceil(N/1024)) block=(256) shared=0
// Whole groups of four go through float4; the last one to three elements are done one by one.
__kernel void saxpy(__global const float* restrict x, __global float* restrict y, float alpha, int N) {
    int i = get_global_id(0);
    int quads = N / 4;
    if (i < quads) {
        vstore4(alpha * vload4(i, x) + vload4(i, y), i, y);
    }
    int tail = N - quads * 4;
    if (i < tail) {
        int j = quads * 4 + i;
        y[j] = alpha * x[j] + y[j];
    }
}
