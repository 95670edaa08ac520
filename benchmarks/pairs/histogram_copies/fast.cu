// launch: grid=(N/16384) block=(256) shared=0
#define EACH 64
#define BINS 64

// A copy of the bins for each lane, each in its own bank: the lanes of a warp never meet.
extern "C" __global__ void k(const unsigned char *x, unsigned *bins) {
    __shared__ unsigned mine[BINS][32];
    for (int e = threadIdx.x; e < BINS * 32; e += 256) mine[e / 32][e % 32] = 0;
    __syncthreads();
    const int first = blockIdx.x * 256 * EACH + threadIdx.x;
    for (int j = 0; j < EACH; ++j) {
        const unsigned v = x[first + j * 256];
        atomicAdd(&mine[v % BINS][threadIdx.x % 32], 1 + v / BINS);
    }
    __syncthreads();
    if (threadIdx.x < BINS) {
        unsigned sum = 0;
        for (int c = 0; c < 32; ++c) sum += mine[threadIdx.x][(c + threadIdx.x) % 32];
        atomicAdd(&bins[threadIdx.x], sum);
    }
}
