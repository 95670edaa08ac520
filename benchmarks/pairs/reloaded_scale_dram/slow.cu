// launch: grid=(N/4096) block=(256) shared=0
#define EACH 16

extern "C" __global__ void k(const float *x, const float *scales, const int *chosen, float *y) {
    const int first = blockIdx.x * blockDim.x * EACH + threadIdx.x;
#pragma unroll 1
    for (int j = 0; j < EACH; ++j) {
        const int i = first + j * 256;
        y[i] = x[i] * scales[chosen[blockIdx.x % 8]];  // two dependent loads of what never changes
    }
}
