// launch: grid=(min(ceil(N/4096), 144)) block=(256)
// Each warp counts in shared memory of its own and reads sixteen bytes at a time; a block adds its counts once.
#define WARPS 8

extern "C" __global__ void histogram_bytes(const unsigned char* __restrict__ data, unsigned int* counts, int N) {
    __shared__ unsigned int mine[WARPS][256];
    for (int i = threadIdx.x; i < WARPS * 256; i += blockDim.x) mine[0][i] = 0;
    __syncthreads();

    unsigned int* own = mine[threadIdx.x / 32];
    const uint4* wide = reinterpret_cast<const uint4*>(data);
    int packs = N / 16;
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int p = thread; p < packs; p += threads) {
        uint4 v = wide[p];
        unsigned int words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int w = 0; w < 4; ++w) {
#pragma unroll
            for (int b = 0; b < 32; b += 8) atomicAdd(&own[words[w] >> b & 255], 1u);
        }
    }
    for (int i = packs * 16 + thread; i < N; i += threads) atomicAdd(&own[data[i]], 1u);
    __syncthreads();

    unsigned int total = 0;
    for (int w = 0; w < WARPS; ++w) total += mine[w][threadIdx.x];
    if (total > 0) atomicAdd(&counts[threadIdx.x], total);
}
