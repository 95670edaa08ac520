// launch: grid=(N/128) block=(128) shared=0
#define KEPT 16

extern "C" __global__ void k(const float *x, float *y, int rounds) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[KEPT];
#pragma unroll
    for (int j = 0; j < KEPT; ++j) v[j] = x[i] * (j + 1);
#pragma unroll 1
    for (int r = 0; r < rounds; ++r)
#pragma unroll
        for (int j = 0; j < KEPT; ++j) v[j] = v[j] * 0.5f + v[(j + 1) % KEPT];
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < KEPT; ++j) sum += v[j];
    y[i] = sum;
}
