// launch: grid=(min(ceil(N/1024), 432)) block=(256) shared=0
extern "C" __global__ void reduce_sum(const float* __restrict__ x, float* out, int N) {
    float s = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += 256 * gridDim.x) s += x[i];
    for (int step = 16; step; step /= 2) s += __shfl_down_sync(~0u, s, step);
    __shared__ float part[8];
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) s += part[w];
        atomicAdd(out, s);
    }
}
