// launch: grid=(min(ceil(N/4096), 136)) block=(512)
// Counts in shared memory, added once for each block. A thread reads sixteen bases at once and the four after them, and
// rolls the word on: one shift for each base.
#define K 5
#define WORDS 1024

extern "C" __global__ void kmer_count(const unsigned char* __restrict__ bases, unsigned int* counts, int N) {
    __shared__ unsigned int mine[WORDS];
    for (int w = threadIdx.x; w < WORDS; w += blockDim.x) mine[w] = 0;
    __syncthreads();

    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    int packs = (N - 4) / 16;  // sixteen words need twenty bases
    for (int p = thread; p < packs; p += threads) {
        uint4 v = reinterpret_cast<const uint4*>(bases)[p];
        unsigned int next = reinterpret_cast<const unsigned int*>(bases)[p * 4 + 4];
        unsigned int quads[5] = {v.x, v.y, v.z, v.w, next};
        unsigned int word = 0;
#pragma unroll
        for (int i = 0; i < 20; ++i) {
            word = (word << 2 | (quads[i / 4] >> i % 4 * 8 & 3)) & (WORDS - 1);
            if (i >= K - 1) atomicAdd(&mine[word], 1u);
        }
    }
    for (int i = packs * 16 + thread; i <= N - K; i += threads) {
        unsigned int word = 0;
        for (int k = 0; k < K; ++k) word = word << 2 | bases[i + k];
        atomicAdd(&mine[word], 1u);
    }
    __syncthreads();
    for (int w = threadIdx.x; w < WORDS; w += blockDim.x) {
        if (mine[w] > 0) atomicAdd(&counts[w], mine[w]);
    }
}
