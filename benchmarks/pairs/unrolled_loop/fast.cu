// launch: grid=(N/256) block=(256) shared=0
extern "C" __global__ void k(const float *x, float *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = x[i], b = 1.0f;
#pragma unroll 16
    for (int j = 0; j < 512; ++j) {
        a = a * 0.999f + 0.5f;
        b = b * 0.998f + 0.25f;
    }
    y[i] = a + b;
}
