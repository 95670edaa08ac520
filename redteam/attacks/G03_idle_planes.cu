// attack: G3 sixteen planes of blocks, one of which works: idle blocks between those that work
// task: matmul_naive
// expect: SAME SLOWER no_time interval_too_wide
// launch: grid=(16, ceil(N/16), ceil(M/16)) block=(16, 16) shared=0
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    int col = blockIdx.y * 16 + threadIdx.x, row = blockIdx.z * 16 + threadIdx.y;
    if (blockIdx.x || row >= M || col >= N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + col];
    C[row * N + col] = s;
}
