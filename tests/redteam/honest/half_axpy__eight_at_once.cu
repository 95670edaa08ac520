// launch: grid=(ceil(N/2048)) block=(256) shared=0
#include <cuda_fp16.h>
extern "C" __global__ void half_axpy(const half* __restrict__ x, const half* __restrict__ y, half* __restrict__ z,
                                     float alpha, int N) {
    int i = (blockIdx.x * 256 + threadIdx.x) * 8;
    half2 k = __float2half2_rn(alpha);
    if (i + 7 < N) {
        uint4 u = *reinterpret_cast<const uint4*>(x + i), v = *reinterpret_cast<const uint4*>(y + i), w;
        const half2 *p = reinterpret_cast<half2*>(&u), *q = reinterpret_cast<half2*>(&v);
        half2* r = reinterpret_cast<half2*>(&w);
#pragma unroll
        for (int j = 0; j < 4; ++j) r[j] = __hfma2(k, p[j], q[j]);
        *reinterpret_cast<uint4*>(z + i) = w;
    } else {
        for (; i < N; ++i) z[i] = __hfma(__low2half(k), x[i], y[i]);
    }
}
