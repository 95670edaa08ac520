// launch: grid=(N/512) block=(128) shared=0
#define EACH 4

extern "C" __global__ void k(const float *x, const float *scales, const int *chosen, float *y, int rounds) {
    const int first = blockIdx.x * blockDim.x * EACH + threadIdx.x;
    const float scale = scales[chosen[blockIdx.x % 8]];
#pragma unroll 1
    for (int j = 0; j < rounds; ++j) {
        const int i = first + j % EACH * 128;
        y[i] = x[i] * scale;
    }
}
