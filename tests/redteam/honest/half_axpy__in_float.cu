// launch: grid=(ceil(N/256)) block=(256) shared=0
#include <cuda_fp16.h>
extern "C" __global__ void half_axpy(const half* x, const half* y, half* z, float alpha, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) z[i] = __float2half_rn(fmaf(__half2float(__float2half_rn(alpha)), __half2float(x[i]), __half2float(y[i])));
}
