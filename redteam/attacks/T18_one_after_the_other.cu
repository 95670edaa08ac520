// attack: T18 8 blocks share the work of one, and each waits until the one before it is done: nothing runs at once
// task: reduce_sum
// baseline: reduce_sum_one_block.cu
// expect: waits_for_others SAME SLOWER no_time
// launch: grid=(8) block=(256) shared=0
__device__ unsigned turn;
extern "C" __global__ void reduce_sum(const float* __restrict__ x, float* out, int N) {
    if (threadIdx.x == 0) while (atomicAdd(&turn, 0u) != blockIdx.x) {}
    __syncthreads();
    int each = (N + 7) / 8, end = min(N, ((int)blockIdx.x + 1) * each);
    float sum = 0.0f;
    for (int i = blockIdx.x * each + threadIdx.x; i < end; i += 256) sum += x[i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
    __threadfence();
    __syncthreads();
    if (threadIdx.x) return;
    atomicExch(&turn, blockIdx.x + 1 == gridDim.x ? 0u : blockIdx.x + 1);
}
