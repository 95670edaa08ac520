// launch: grid=(N/512) block=(128) shared=0
// Few warps, and data that stays in L1: each iteration waits for the loads that follow from one another.
#define EACH 4

extern "C" __global__ void k(const float *x, const float *scales, const int *chosen, float *y, int rounds) {
    const int first = blockIdx.x * blockDim.x * EACH + threadIdx.x;
#pragma unroll 1
    for (int j = 0; j < rounds; ++j) {
        const int i = first + j % EACH * 128;
        y[i] = x[i] * scales[chosen[blockIdx.x % 8]];  // two dependent loads of what never changes
    }
}
