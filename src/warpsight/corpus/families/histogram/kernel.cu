// launch: grid=(min(ceil(N/1024), 432)) block=(256) shared=0
extern "C" __global__ void histogram(const int* __restrict__ keys, int* __restrict__ counts, int N) {
    __shared__ int bins[8][65];
    int mine = threadIdx.x / 32;
    for (int b = threadIdx.x; b < 8 * 65; b += 256) {
        bins[b / 65][b % 65] = 0;
    }
    __syncthreads();
    #pragma unroll 4
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) {
        atomicAdd(&bins[mine][keys[i]], 1);
    }
    __syncthreads();
    if (threadIdx.x < 64) {
        int total = 0;
        for (int copy = 0; copy < 8; ++copy) {
            total += bins[copy][threadIdx.x];
        }
        atomicAdd(&counts[threadIdx.x], total);
    }
}
