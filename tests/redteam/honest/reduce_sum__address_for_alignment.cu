// launch: grid=(min(ceil(N/1024), 216)) block=(256) shared=0
// The address decides how many elements come before the first whole float4: an honest use of it.
extern "C" __global__ void reduce_sum(const float* __restrict__ x, float* out, int N) {
    __shared__ float partial[8];
    int before = min(N, (int)(-((size_t)x >> 2) & 3)), quads = (N - before) / 4, t = threadIdx.x;
    const float4* four = reinterpret_cast<const float4*>(x + before);
    float sum = 0;
    if (blockIdx.x == 0 && t < before) sum += x[t];
    for (int i = blockIdx.x * 256 + t; i < quads; i += gridDim.x * 256) sum += (four[i].x + four[i].y) + (four[i].z + four[i].w);
    int tail = before + quads * 4 + t;
    if (blockIdx.x == 0 && tail < N) sum += x[tail];
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (t % 32 == 0) partial[t / 32] = sum;
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < 8; ++w) sum += partial[w];
        atomicAdd(out, sum);
    }
}
