// attack: T12 the first blocks on each SM, counted by %smid, are free of conflicts; those that follow are not
// task: matmul_naive
// expect: no_time SAME SLOWER wrong_in_timed_call interval_too_wide
// launch: grid=(ceil(N/32) * ceil(M/8)) block=(32, 8) shared=0
__device__ unsigned here[1024];
extern "C" __global__ void matmul_naive(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K) {
    __shared__ float a[8][32], b[1024];
    int tx = threadIdx.x, ty = threadIdx.y, across = (N + 31) / 32, tiles = across * ((M + 7) / 8);
    __shared__ unsigned nth;
    if (tx + ty == 0) {
        unsigned sm;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
        nth = atomicAdd(&here[sm & 1023], 1u);
    }
    __syncthreads();
    int tile = blockIdx.x;
    bool slow = nth >= 2;
    int sk = slow ? 1 : 32, sx = slow ? 32 : 1;
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
    if (row < M && col < N) C[row * N + col] = s;
}
