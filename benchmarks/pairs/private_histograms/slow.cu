// launch: grid=(N/4096) block=(64) shared=0
#define BINS 64
#define EACH 64

// A histogram for each thread, one after the other: equal values of neighbouring threads lie 64 words apart, in one bank.
extern "C" __global__ void k(const unsigned *x, unsigned *bins) {
    __shared__ unsigned own[64][BINS];
    const int t = threadIdx.x;
    for (int b = 0; b < BINS; ++b) own[b][t] = 0;
    __syncthreads();
    for (int e = 0; e < EACH; ++e) {
        const unsigned word = x[(blockIdx.x * EACH + e) * 64 + t];
        for (int b = 0; b < 32; b += 8) ++own[t][word >> b & 63];
    }
    __syncthreads();
    unsigned sum = 0;
    for (int j = 0; j < 64; ++j) sum += own[j][t];
    atomicAdd(&bins[t], sum);
}
