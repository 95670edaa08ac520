// launch: grid=(min(ceil(N/1024), 432)) block=(256) shared=0
extern "C" __global__ void histogram(const int* __restrict__ values, int* __restrict__ counts, int N, int width) {
    __shared__ int bins[8][65];
    int warp = threadIdx.x / 32;
    int shift = 31 - __clz(width);
    for (int b = threadIdx.x % 32; b < 64; b += 32) {
        bins[warp][b] = 0;
    }
    __syncthreads();
    #pragma unroll 4
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) {
        atomicAdd(&bins[warp][values[i] >> shift], 1);
    }
    __syncthreads();
    if (threadIdx.x < 64) {
        int total = 0;
        for (int w = 0; w < 8; ++w) {
            total += bins[w][threadIdx.x];
        }
        atomicAdd(&counts[threadIdx.x], total);
    }
}
