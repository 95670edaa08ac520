// launch: grid=(N/128) block=(128) shared=0
#define TERMS 8192

extern "C" __global__ void k(const float *x, const float *w, float *y) {
    __shared__ __align__(16) float near[TERMS];
    for (int j = threadIdx.x; j < TERMS; j += 128) near[j] = w[j];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float v = x[i];
    float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
#pragma unroll 4
    for (int j = 0; j < TERMS; j += 4) {
        s0 += v * near[j];
        s1 += v * near[j + 1];
        s2 += v * near[j + 2];
        s3 += v * near[j + 3];
    }
    y[i] = (s0 + s1) + (s2 + s3);
}
