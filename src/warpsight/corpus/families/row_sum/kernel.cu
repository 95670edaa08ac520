// launch: grid=(R) block=(256) shared=0
extern "C" __global__ void row_sum(const float* __restrict__ x, float* __restrict__ sums, int C) {
    __shared__ float part[32];
    const float* line = x + (size_t)blockIdx.x * C;
    int lane = threadIdx.x % 32;
    float total = 0.0f;
    #pragma unroll 4
    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        total += line[c];
    }
    for (int step = 16; step > 0; step /= 2) {
        total += __shfl_down_sync(0xffffffffu, total, step);
    }
    if (lane == 0) {
        part[threadIdx.x / 32] = total;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        total = lane < blockDim.x / 32 ? part[lane] : 0.0f;
        for (int step = 16; step > 0; step /= 2) {
            total += __shfl_down_sync(0xffffffffu, total, step);
        }
        if (lane == 0) {
            sums[blockIdx.x] = total;
        }
    }
}
