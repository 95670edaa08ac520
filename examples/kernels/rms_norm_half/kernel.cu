// launch: grid=(ceil(R/256)) block=(256)
#include <cuda_fp16.h>

extern "C" __global__ void rms_norm_half(const half* x, const half* gamma, half* y, float eps, int R, int C) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < R) {
        float sum = 0.0f;
        for (int c = 0; c < C; c++) {
            float v = __half2float(x[r * C + c]);
            sum += v * v;
        }
        float rms = sqrtf(sum / C + eps);
        for (int c = 0; c < C; c++) {
            float v = __half2float(x[r * C + c]);
            y[r * C + c] = __float2half(v / rms * __half2float(gamma[c]));
        }
    }
}
