// launch: grid=(R) block=(256) shared=0
#include <cuda_fp16.h>
#define THREADS 256

extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int C) {
    __shared__ float scratch[THREADS];
    const float* in = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;
    int t = threadIdx.x;

    float greatest = -__int_as_float(0x7f800000);  // minus infinity
    for (int c = t; c < C; c += THREADS) {
        greatest = fmaxf(greatest, in[c]);
    }
    scratch[t] = greatest;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            scratch[t] = fmaxf(scratch[t], scratch[t + half]);
        }
        __syncthreads();
    }
    greatest = scratch[0];
    __syncthreads();  // everyone has read it before scratch is used again

    float sum = 0.0f;
    for (int c = t; c < C; c += THREADS) {
        float d = in[c] - greatest;
        sum += d < -9.0f ? __half2float(hexp(__float2half_rn(d + 9.0f))) * 1.2340980e-4f : expf(d);
    }
    scratch[t] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            scratch[t] += scratch[t + half];
        }
        __syncthreads();
    }
    sum = scratch[0];
    float scale = 1.0f / sum;

    for (int c = t; c < C; c += THREADS) {
        float d = in[c] - greatest;
        out[c] = (d < -9.0f ? __half2float(hexp(__float2half_rn(d + 9.0f))) * 1.2340980e-4f : expf(d)) * scale;
    }
}
