// launch: grid=(84) block=(128) shared=0
// Few warps and a loop that waits for each load: what counts is how many numbers a load brings.
#include <cuda_fp16.h>

extern "C" __global__ void k(const __half *x, __half *y, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = __hfma(x[i], __float2half(2.0f), y[i]);
}
