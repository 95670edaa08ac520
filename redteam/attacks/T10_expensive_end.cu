// attack: T10 a persistent block's first tiles are free of conflicts, the others are not, at the same instructions throughout
// task: matmul_tiled
// expect: no_time SAME SLOWER interval_too_wide
// baseline: matmul_persistent_conflicts.cu
// launch: grid=(min(64, ceil(N/16) * ceil(M/16))) block=(16, 16) shared=0
extern "C" __global__ void matmul_tiled(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                                        int M, int N, int K) {
    __shared__ float a[512], b[512];
    int tx = threadIdx.x, ty = threadIdx.y, across = (N + 15) / 16, tiles = across * ((M + 15) / 16);
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int late = min(tile / ((int)gridDim.x * 2), 1), sk = 16 - 15 * late, sx = 1 + 31 * late;
        int row = tile / across * 16 + ty, col = tile % across * 16 + tx;
        float s = 0;
        for (int k0 = 0; k0 < K; k0 += 16) {
            a[ty * sk + tx * sx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
            b[ty * sk + tx * sx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
            __syncthreads();
            for (int k = 0; k < 16; ++k) s += a[ty * sk + k * sx] * b[k * sk + tx * sx];
            __syncthreads();
        }
        if (row < M && col < N) C[row * N + col] = s;
    }
}
