// launch: grid=(ceil(R/4)) block=(32, 4)
// One warp for each row, eight halves in each load and store.
#include <cuda_fp16.h>

union Eight {
    uint4 bits;
    half2 pair[4];
};

extern "C" __global__ void rms_norm_half(const half* __restrict__ x, const half* __restrict__ gamma,
                                         half* __restrict__ y, float eps, int R, int C) {
    int r = blockIdx.x * blockDim.y + threadIdx.y;
    if (r >= R) return;
    const uint4* in = reinterpret_cast<const uint4*>(x + (size_t)r * C);
    const uint4* weights = reinterpret_cast<const uint4*>(gamma);
    uint4* out = reinterpret_cast<uint4*>(y + (size_t)r * C);
    int packs = C / 8;

    float sum = 0.0f;
    for (int p = threadIdx.x; p < packs; p += 32) {
        Eight v;
        v.bits = in[p];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            float2 f = __half22float2(v.pair[i]);
            sum += f.x * f.x + f.y * f.y;
        }
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    }
    float scale = rsqrtf(sum / C + eps);
    for (int p = threadIdx.x; p < packs; p += 32) {
        Eight v, g;
        v.bits = in[p];
        g.bits = weights[p];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            float2 f = __half22float2(v.pair[i]);
            float2 w = __half22float2(g.pair[i]);
            v.pair[i] = __floats2half2_rn(f.x * scale * w.x, f.y * scale * w.y);
        }
        out[p] = v.bits;
    }
}
