// launch: grid=(N/128) block=(128) shared=0
#define TERMS 8192

// One warp for each scheduler: nothing else hides the latency of a multiply-add.
extern "C" __global__ void k(const float *x, const float *w, float *y) {
    __shared__ __align__(16) float near[TERMS];
    for (int j = threadIdx.x; j < TERMS; j += 128) near[j] = w[j];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float v = x[i];
    float sum = 0.0f;
#pragma unroll 16
    for (int j = 0; j < TERMS; ++j) sum += v * near[j];
    y[i] = sum;
}
