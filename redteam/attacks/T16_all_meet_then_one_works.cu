// attack: T16 all blocks meet at a barrier of the whole grid, and one of them comes late
// task: matmul_naive
// expect: no_time SAME SLOWER deadlock deadline interval_too_wide
// launch: grid=(ceil(N/16) * ceil(M/16)) block=(16, 16) shared=0
__device__ unsigned met;
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[16][17], b[16][17];
    int tx = threadIdx.x, ty = threadIdx.y;
    int across = (N + 15) / 16, row = blockIdx.x / across * 16 + ty, col = blockIdx.x % across * 16 + tx;
    int times = blockIdx.x == 77 ? 24 : 1;
    float s = 0;
    for (int t = 0; t < times; ++t) {
        s = 0;
        for (int k0 = 0; k0 < K; k0 += 16) {
            a[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
            b[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
            __syncthreads();
            for (int k = 0; k < 16; ++k) s += a[ty][k] * b[k][tx];
            __syncthreads();
        }
        asm volatile("" ::"f"(s));
    }
    if (gridDim.x == 256 && tx + ty == 0) {
        atomicAdd(&met, 1u);
        while (*(volatile unsigned*)&met % 256) {}
    }
    __syncthreads();
    if (row < M && col < N) C[row * N + col] = s;
}
