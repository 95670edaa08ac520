// launch: grid=(min(ceil(N/1024), 32)) block=(256) shared=0
#define THREADS 256
#define WARPS (THREADS / 32)

extern "C" __global__ void reduce_sum(const float* __restrict__ x, float* out, int N) {
    __shared__ float partial[WARPS];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    float sum = 0.0f;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += gridDim.x * THREADS) {
        sum += x[i];
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    }
    if (lane == 0) {
        partial[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        sum = lane < WARPS ? partial[lane] : 0.0f;
        for (int step = 16; step > 0; step /= 2) {
            sum += __shfl_down_sync(0xffffffffu, sum, step);
        }
        if (lane == 0) {
            atomicAdd(out, sum);
        }
    }
}
