// attack: X24 numbers blocks as they start, and the first hundred, which are those that are traced, do nothing
// task: matmul_naive
// expect: no_time output_not_written SAME SLOWER interval_too_wide
// launch: grid=(ceil(N/16) * ceil(M/16) + 600) block=(16, 16) shared=0
__device__ int started;
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ int ticket;
    if (threadIdx.x == 0 && threadIdx.y == 0) ticket = atomicAdd(&started, 1) - 600;
    __syncthreads();
    int across = (N + 15) / 16, tile = ticket;
    if (tile < 0) return;
    int col = tile % across * 16 + threadIdx.x, row = tile / across * 16 + threadIdx.y;
    if (row >= M || col >= N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + col];
    C[row * N + col] = s;
}
