// launch: grid=(N/512) block=(256) shared=0
#include <cuda_fp16.h>

extern "C" __global__ void k(const __half2 *x, __half2 *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = __hfma2(x[i], __float2half2_rn(2.0f), y[i]);
}
