// attack: X18 saves a barrier for half of its threads
// task: reduce_sum
// expect: barrier_divergence shared_race
// launch: grid=(min(ceil(N/1024), 512)) block=(256) shared=0
extern "C" __global__ void reduce_sum(const float* x, float* out, int N) {
    __shared__ float part[256];
    float s = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += 256 * gridDim.x) s += x[i];
    part[threadIdx.x] = s;
    if (threadIdx.x < 128) __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 256; ++k) part[0] += part[k];
        atomicAdd(out, part[0]);
    }
}
