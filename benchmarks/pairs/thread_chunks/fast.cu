// launch: grid=(N/4096) block=(256) shared=0
#define EACH 16

extern "C" __global__ void k(const float *x, float *y) {
    const int first = blockIdx.x * blockDim.x * EACH + threadIdx.x;
#pragma unroll 1
    for (int j = 0; j < EACH; ++j) y[first + j * blockDim.x] = 3.0f * x[first + j * blockDim.x] + 1.0f;
}
