// launch: grid=(64) block=(256) shared=0
extern "C" __global__ void reduce_sum(const float* __restrict__ x, float* out, int N) {
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += 16384) sum += x[i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
