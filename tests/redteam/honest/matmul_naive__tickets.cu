// launch: grid=(min(216, ceil(N/32) * ceil(M/8))) block=(32, 8) shared=0
// A persistent kernel: blocks draw tiles from a counter until there are none, and the last one to leave sets it back.
__device__ unsigned next_tile, left;
extern "C" __global__ void matmul_naive(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K) {
    __shared__ float a[8][32], b[32][32];
    __shared__ unsigned tile;
    int tx = threadIdx.x, ty = threadIdx.y, across = (N + 31) / 32, tiles = across * ((M + 7) / 8);
    while (true) {
        if (tx + ty == 0) tile = atomicAdd(&next_tile, 1u);
        __syncthreads();
        if (tile >= tiles) break;
        int row = tile / across * 8 + ty, col = tile % across * 32 + tx;
        float s = 0;
        for (int k0 = 0; k0 < K; k0 += 32) {
            a[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
            for (int j = 0; j < 32; j += 8) b[ty + j][tx] = k0 + ty + j < K && col < N ? B[(k0 + ty + j) * N + col] : 0.0f;
            __syncthreads();
            for (int k = 0; k < 32; ++k) s += a[ty][k] * b[k][tx];
            __syncthreads();
        }
        if (row < M && col < N) C[row * N + col] = s;
    }
    if (tx + ty == 0 && atomicAdd(&left, 1u) == gridDim.x - 1) {
        atomicExch(&left, 0u);
        atomicExch(&next_tile, 0u);
    }
}
