// launch: grid=(min(ceil(N/1024), 256)) block=(512) shared=4*512
extern "C" __global__ void reduce_sum(const float* x, float* out, int N) {
    extern __shared__ float part[];
    float s = 0;
    for (int i = blockIdx.x * 512 + threadIdx.x; i < N; i += 512 * gridDim.x) s += x[i];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int h = 256; h; h /= 2) {
        if (threadIdx.x < h) part[threadIdx.x] += part[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
