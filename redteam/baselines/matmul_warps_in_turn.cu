// launch: grid=(ceil(N/16) * ceil(M/16)) block=(16, 16) shared=0
extern "C" __global__ void matmul_naive(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K) {
    int warp = (threadIdx.y * 16 + threadIdx.x) / 32, across = (N + 15) / 16, tile = blockIdx.x;
    int row = min(tile / across * 16 + (int)threadIdx.y, M - 1), col = min(tile % across * 16 + (int)threadIdx.x, N - 1);
    float s = 0;
    for (int phase = 0; phase < 8; ++phase) {
#pragma unroll 1
        for (int k = 0; k < (phase == warp ? K : 0); ++k) s += A[row * K + k] * B[k * N + col];
        __syncthreads();
    }
    if (tile / across * 16 + threadIdx.y < M && tile % across * 16 + threadIdx.x < N) C[row * N + col] = s;
}
