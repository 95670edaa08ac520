// launch: grid=(R) block=(128) shared=0
#include <cuda_fp16.h>

extern "C" __global__ void rms_norm(const half* __restrict__ x, const half* __restrict__ weight, half* __restrict__ y, int C) {
    __shared__ float part[32];
    const int threads = 128;
    const half2* in = reinterpret_cast<const half2*>(x + (size_t)blockIdx.x * C);
    const half2* by = reinterpret_cast<const half2*>(weight);
    half2* out = reinterpret_cast<half2*>(y + (size_t)blockIdx.x * C);
    float sum = 0.0f;
    #pragma unroll 4
    for (int i = threadIdx.x; i < C / 2; i += threads) {
        float2 v = __half22float2(in[i]);
        sum += v.x * v.x + v.y * v.y;
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    float all = 0.0f;
    for (int w = 0; w < threads / 32; ++w) {
        all += part[w];
    }
    float scale = rsqrtf(all / C + 1e-6f);
    for (int i = threadIdx.x; i < C / 2; i += threads) {
        float2 v = __half22float2(in[i]);
        float2 g = __half22float2(by[i]);
        out[i] = __floats2half2_rn(v.x * scale * g.x, v.y * scale * g.y);
    }
}
