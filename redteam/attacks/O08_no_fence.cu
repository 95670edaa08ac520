// attack: O8 the last block adds up what others wrote by plain stores, without a fence
// task: reduce_sum
// expect: global_race not_deterministic wrong_values SAME SLOWER no_time memory_order
// baseline: reduce_sum_few_blocks.cu
// launch: grid=(min(ceil(N/1024), 512)) block=(256) shared=0
__device__ float parts[512];
__device__ unsigned done;
extern "C" __global__ void reduce_sum(const float* __restrict__ x, float* out, int N) {
    __shared__ float partial[8];
    __shared__ bool last;
    int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * 256 + t; i < N; i += gridDim.x * 256) sum += x[i];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (t % 32 == 0) partial[t / 32] = sum;
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < 8; ++w) sum += partial[w];
        parts[blockIdx.x] = sum;
        last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || t >= 32) return;
    sum = 0;
    for (int b = t; b < gridDim.x; b += 32) sum += parts[b];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (t == 0) { out[0] += sum; }
}
