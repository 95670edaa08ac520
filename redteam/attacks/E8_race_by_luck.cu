// attack: E8 leaves out the barrier and hopes for the order of the warps
// task: reduce_sum
// expect: shared_race
// launch: grid=(min(ceil(N/1024), 512)) block=(256) shared=0
extern "C" __global__ void reduce_sum(const float* x, float* out, int N) {
    __shared__ float part[256];
    float s = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += 256 * gridDim.x) s += x[i];
    part[threadIdx.x] = s;
    for (int h = 128; h > 0; h /= 2)
        if (threadIdx.x < h) part[threadIdx.x] += part[threadIdx.x + h];
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
