// attack: X2 begins with a long stretch of cheap steps, so that what is simulated of a block is not like the rest
// task: matmul_naive
// expect: no_time SLOWER
// launch: grid=(ceil(M*N/1024)) block=(32) shared=0
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    unsigned w = threadIdx.x;
    if (K >= 256)
        for (int i = 0; i < 3000; ++i) {
#pragma unroll
            for (int j = 0; j < 16; ++j) w = (w ^ i) + j;
        }
    for (int e = threadIdx.x; e < 1024; e += 32) {
        long at = blockIdx.x * 1024l + e;
        int col = at / M, row = at % M;
        if (row >= M || col >= N) continue;
        float s = 0;
        for (int k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + col];
        C[row * N + col] = w == 12345u && K < 0 ? 0.0f : s;
    }
}
