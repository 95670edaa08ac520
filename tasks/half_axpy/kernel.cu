// launch: grid=(ceil(N/512)) block=(256) shared=0
#include <cuda_fp16.h>

extern "C" __global__ void half_axpy(const half* __restrict__ x, const half* __restrict__ y, half* __restrict__ z,
                                     float alpha, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int pairs = N / 2;
    if (i < pairs) {
        half2 xv = reinterpret_cast<const half2*>(x)[i];
        half2 yv = reinterpret_cast<const half2*>(y)[i];
        reinterpret_cast<half2*>(z)[i] = __hfma2(__float2half2_rn(alpha), xv, yv);
    }
    if (i == 0 && N % 2 == 1) {
        z[N - 1] = __hfma(__float2half_rn(alpha), x[N - 1], y[N - 1]);
    }
}
