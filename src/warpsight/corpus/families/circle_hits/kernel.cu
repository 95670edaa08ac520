// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void circle_hits(const int* __restrict__ seeds, int* __restrict__ hits, int N, int range) {
    __shared__ int part[8];
    int i = blockIdx.x * 256 + threadIdx.x;
    unsigned state = i < N ? seeds[i] : 0u;
    int mask = range - 1;
    int mine = 0;
    #pragma unroll 4
    for (int k = 0; k < 32; ++k) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        int x = (state >> 16) & mask;
        int y = state & mask;
        mine += x * x + y * y < range * range - 1;
    }
    mine = i < N ? mine : 0;
    for (int step = 16; step > 0; step /= 2) {
        mine += __shfl_xor_sync(0xffffffffu, mine, step);
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = mine;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0;
        for (int w = 0; w < 8; ++w) {
            total += part[w];
        }
        atomicAdd(hits, total);
    }
}
