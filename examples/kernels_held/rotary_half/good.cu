// launch: grid=(ceil(T*(D/2)/128)) block=(128)
// Sine and cosine once for each position and pair, used for all heads; both halves of a pair in one load and store.
#include <cuda_fp16.h>

extern "C" __global__ void rotary_half(const half2* __restrict__ x, half2* __restrict__ y, int T, int H, int D) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int pairs = D / 2;
    if (i >= T * pairs) return;
    int t = i / pairs, pair = i % pairs;
    float sine, cosine;
    sincosf(t * exp2f(-13.287712f * pair / pairs), &sine, &cosine);  // 10000 = 2 ^ 13.28...
    size_t at = (size_t)t * H * pairs + pair;
#pragma unroll 4
    for (int h = 0; h < H; ++h, at += pairs) {
        float2 v = __half22float2(x[at]);
        y[at] = __floats2half2_rn(v.x * cosine - v.y * sine, v.x * sine + v.y * cosine);
    }
}
