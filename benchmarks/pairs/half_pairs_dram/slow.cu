// launch: grid=(N/256) block=(256) shared=0
#include <cuda_fp16.h>

extern "C" __global__ void k(const __half *x, __half *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = __hfma(x[i], __float2half(2.0f), y[i]);
}
