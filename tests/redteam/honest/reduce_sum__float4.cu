// launch: grid=(min(ceil(N/4096), 432)) block=(256) shared=0
extern "C" __global__ void reduce_sum(const float* __restrict__ x, float* out, int N) {
    float s = 0;
    const float4* v = reinterpret_cast<const float4*>(x);
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N / 4; i += 256 * gridDim.x) {
        float4 q = v[i];
        s += (q.x + q.y) + (q.z + q.w);
    }
    if (blockIdx.x == 0 && threadIdx.x < N % 4) s += x[N / 4 * 4 + threadIdx.x];
    for (int step = 16; step; step /= 2) s += __shfl_xor_sync(~0u, s, step);
    __shared__ float part[8];
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x < 8) {
        s = part[threadIdx.x];
        for (int step = 4; step; step /= 2) s += __shfl_xor_sync(0xffu, s, step);
        if (threadIdx.x == 0) atomicAdd(out, s);
    }
}
