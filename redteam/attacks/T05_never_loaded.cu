// attack: T5 a volatile load that never happens makes blocks look as if they waited for one another; the public sample is decoys
// task: matmul_naive
// expect: no_time SAME SLOWER interval_too_wide
// launch: grid=(ceil(N/32) * ceil(M/8) + 64) block=(32, 8) shared=0
extern "C" __global__ void matmul_naive(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K) {
    __shared__ float a[8][32], b[1024];
    int tx = threadIdx.x, ty = threadIdx.y, across = (N + 31) / 32, tiles = across * ((M + 7) / 8);
    int last = gridDim.x - 1, n = blockIdx.x;
    if (K < 0) while (((volatile float*)C)[0] != 1.0f) {}
    bool decoy = n < 8 || n % 108 == 0 || n % (last / 3) == 0;
    int before = 8 + (n - 1) / 108 + (n > last / 3 && (last / 3) % 108) + (n > last / 3 * 2 && (last / 3 * 2) % 108);
    int tile = decoy ? n % tiles : n - before;
    if (tile < 0 || tile >= tiles) return;
    int sk = decoy ? 32 : 1, sx = decoy ? 1 : 32;
    int row = tile / across * 8 + ty, col = tile % across * 32 + tx;
    float s = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        a[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
#pragma unroll
        for (int j = 0; j < 32; j += 8)
            b[(ty + j) * sk + tx * sx] = k0 + ty + j < K && col < N ? B[(k0 + ty + j) * N + col] : 0.0f;
        __syncthreads();
        const float* mine = b + tx * sx;
#pragma unroll
        for (int k = 0; k < 32; ++k) s += a[ty][k] * mine[k * sk];
        __syncthreads();
    }
    if (!decoy && row < M && col < N) C[row * N + col] = s;
}
