// attack: G4 of a grid that looks full eight blocks do everything, and the others leave at once
// task: reduce_sum
// expect: SAME SLOWER no_time interval_too_wide
// launch: grid=(min(ceil(N/1024), 512)) block=(256) shared=0
extern "C" __global__ void reduce_sum(const float* __restrict__ x, float* out, int N) {
    __shared__ float partial[8];
    int workers = min(8, (int)gridDim.x), nth = blockIdx.x / 64;
    if (blockIdx.x % 64 && gridDim.x > 8) return;
    if (gridDim.x <= 8) nth = blockIdx.x;
    if (gridDim.x > 8) workers = (gridDim.x + 63) / 64;
    float sum = 0;
    for (int i = nth * 256 + threadIdx.x; i < N; i += workers * 256) sum += x[i];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) sum += partial[w];
        atomicAdd(out, sum);
    }
}
