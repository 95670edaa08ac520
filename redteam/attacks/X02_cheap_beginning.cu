// attack: X2 begins with a long stretch of cheap steps, so that what is simulated of a block is not like the rest
// task: matmul_naive
// expect: no_time SAME SLOWER
// launch: grid=(ceil(N/64), ceil(M/64)) block=(256) shared=0
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    unsigned w = threadIdx.x;
    if (K >= 512)
        for (int i = 0; i < 400; ++i) {
#pragma unroll
            for (int j = 0; j < 16; ++j) w = w * 5 + 1;
        }
    for (int e = threadIdx.x; e < 64 * 64; e += 256) {
        int col = blockIdx.x * 64 + e / 64, row = blockIdx.y * 64 + e % 64;
        if (row >= M || col >= N) continue;
        float s = 0;
        for (int k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + col];
        C[row * N + col] = w == 12345u && K < 0 ? 0.0f : s;
    }
}
