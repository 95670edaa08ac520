// launch: grid=(N/256) block=(256) shared=0
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float sines[64];
    if (threadIdx.x < 64) sines[threadIdx.x] = sinf(0.1f * threadIdx.x);
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float v = x[i];
    float sum = 0.0f;
#pragma unroll 1
    for (int j = 0; j < 64; ++j) sum = sum * v + sines[j];
    y[i] = sum;
}
