// launch: grid=(min(ceil(N/1024), 864)) block=(256) shared=0
extern "C" __global__ void dot_product(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out, int N) {
    __shared__ float part[32];
    int start = blockIdx.x * blockDim.x + threadIdx.x;
    int step = gridDim.x * blockDim.x;
    float sum = 0.0f;
    int quads = N / 4;
    #pragma unroll 4
    for (int i = start; i < quads; i += step) {
        float4 u = reinterpret_cast<const float4*>(x)[i];
        float4 v = reinterpret_cast<const float4*>(y)[i];
        sum += (u.x * v.x + u.y * v.y) + (u.z * v.z + u.w * v.w);
    }
    for (int i = quads * 4 + start; i < N; i += step) {
        sum += x[i] * y[i];
    }
    for (int hop = 16; hop > 0; hop /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, hop);
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int w = 0; w < blockDim.x / 32; ++w) {
            total += part[w];
        }
        atomicAdd(out, total);
    }
}
