// launch: grid=(ceil(T*H*D/256)) block=(256)
#include <cuda_fp16.h>

extern "C" __global__ void rotary_half(const half* x, half* y, int T, int H, int D) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= T * H * D) return;
    int d = i % D;
    int t = i / (H * D);
    int pair = d / 2;
    float angle = t / powf(10000.0f, 2.0f * pair / D);
    if (d % 2 == 0) {
        y[i] = __float2half(__half2float(x[i]) * cosf(angle) - __half2float(x[i + 1]) * sinf(angle));
    } else {
        y[i] = __float2half(__half2float(x[i - 1]) * sinf(angle) + __half2float(x[i]) * cosf(angle));
    }
}
