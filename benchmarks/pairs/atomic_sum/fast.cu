// launch: grid=(N/256) block=(256) shared=0
extern "C" __global__ void k(const float *x, float *total) {
    __shared__ float sums[8];
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) v += sums[w];
        atomicAdd(total, v);
    }
}
