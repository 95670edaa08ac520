// launch: grid=(ceil(N/64), ceil(M/16)) block=(16, 16) shared=0
extern "C" __global__ void matmul_naive(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                                        int M, int N, int K) {
    int col = blockIdx.x * 64 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= M) return;
    float s[4] = {};
    for (int k = 0; k < K; ++k) {
        float v = A[row * K + k];
#pragma unroll
        for (int j = 0; j < 4; ++j)
            if (col + 16 * j < N) s[j] = fmaf(v, B[k * N + col + 16 * j], s[j]);
    }
#pragma unroll
    for (int j = 0; j < 4; ++j)
        if (col + 16 * j < N) C[row * N + col + 16 * j] = s[j];
}
