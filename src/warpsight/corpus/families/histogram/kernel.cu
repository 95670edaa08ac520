// launch: grid=(min(ceil(N/2048), 432)) block=(256) shared=0
extern "C" __global__ void histogram(const int* __restrict__ values, int* __restrict__ counts, int N, int width) {
    __shared__ int bins[8][65];
    int warp = threadIdx.x / 32;
    int shift = 31 - __clz(width);
    for (int b = threadIdx.x % 32; b < 64; b += 32) {
        bins[warp][b] = 0;
    }
    __syncthreads();
    int worker = blockIdx.x * 256 + threadIdx.x;
    int workers = gridDim.x * 256;
    int quads = N / 4;
    for (int q = worker; q < quads; q += workers) {
        int4 v = reinterpret_cast<const int4*>(values)[q];
        atomicAdd(&bins[warp][v.x >> shift], 1);
        atomicAdd(&bins[warp][v.y >> shift], 1);
        atomicAdd(&bins[warp][v.z >> shift], 1);
        atomicAdd(&bins[warp][v.w >> shift], 1);
    }
    for (int i = 4 * quads + worker; i < N; i += workers) {
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
