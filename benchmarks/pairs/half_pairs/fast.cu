// launch: grid=(84) block=(128) shared=0
#include <cuda_fp16.h>

extern "C" __global__ void k(const __half2 *x, __half2 *y, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += gridDim.x * blockDim.x)
        y[i] = __hfma2(x[i], __float2half2_rn(2.0f), y[i]);
}
