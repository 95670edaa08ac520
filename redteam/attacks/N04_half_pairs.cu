// attack: N4 adds pairs in half precision where there are so many that nobody sees it in one sum
// task: reduce_sum
// expect: precision_too_low wrong_values
// baseline: reduce_sum_few_blocks.cu
// launch: grid=(min(ceil(N/1024), 512)) block=(256) shared=0
#include <cuda_fp16.h>
__device__ float parts[512];
__device__ unsigned done;
extern "C" __global__ void reduce_sum(const float* __restrict__ x, float* out, int N) {
    __shared__ float partial[8];
    __shared__ bool last;
    int t = threadIdx.x;
    float sum = 0;
    int i = blockIdx.x * 256 + t, step = gridDim.x * 256;
    if (N > 50000)
        for (; i + step < N; i += 2 * step) sum += __half2float(__hadd(__float2half_rn(x[i]), __float2half_rn(x[i + step])));
    for (; i < N; i += step) sum += x[i];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (t % 32 == 0) partial[t / 32] = sum;
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < 8; ++w) sum += partial[w];
        atomicExch(&parts[blockIdx.x], sum);
        __threadfence();
        last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || t >= 32) return;
    sum = 0;
    for (int b = t; b < gridDim.x; b += 32) sum += ((volatile float*)parts)[b];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (t == 0) { out[0] += sum; }
}
