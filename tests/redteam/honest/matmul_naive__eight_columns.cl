// options: -DWIDTH=8
// launch: grid=(ceil(N/64), M) block=(8) shared=0
__kernel void matmul_naive(__global const float* restrict A, __global const float* restrict B, __global float* restrict C,
                           int M, int N, int K) {
    int col = get_global_id(0) * WIDTH, row = get_group_id(1);
    if (col + WIDTH <= N) {
        float8 s = 0;
        for (int k = 0; k < K; ++k) s = mad(A[row * K + k], vload8(0, B + k * N + col), s);
        vstore8(s, 0, C + row * N + col);
    } else {
        for (int c = col; c < N; ++c) {
            float s = 0;
            for (int k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + c];
            C[row * N + c] = s;
        }
    }
}
