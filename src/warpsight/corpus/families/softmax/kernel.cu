// launch: grid=(R) block=(128) shared=0
extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int C) {
    __shared__ float part[32];
    const int threads = 128;
    const float4* in = reinterpret_cast<const float4*>(x + (size_t)blockIdx.x * C);
    float4* out = reinterpret_cast<float4*>(y + (size_t)blockIdx.x * C);
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int quads = C / 4;
    float top = -3.4e38f;
    #pragma unroll 4
    for (int q = threadIdx.x; q < quads; q += threads) {
        float4 v = in[q];
        top = fmaxf(top, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    for (int step = 16; step > 0; step /= 2) {
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    }
    if (lane == 0) {
        part[warp] = top;
    }
    __syncthreads();
    for (int w = 0; w < threads / 32; ++w) {
        top = fmaxf(top, part[w]);
    }
    __syncthreads();
    float sum = 0.0f;
    for (int q = threadIdx.x; q < quads; q += threads) {
        float4 v = in[q];
        sum += (__expf(v.x - top) + __expf(v.y - top)) + (__expf(v.z - top) + __expf(v.w - top));
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    }
    if (lane == 0) {
        part[warp] = sum;
    }
    __syncthreads();
    float all = 0.0f;
    for (int w = 0; w < threads / 32; ++w) {
        all += part[w];
    }
    float scale = 1.0f / all;
    for (int q = threadIdx.x; q < quads; q += threads) {
        float4 v = in[q];
        v.x = __expf(v.x - top) * scale;
        v.y = __expf(v.y - top) * scale;
        v.z = __expf(v.z - top) * scale;
        v.w = __expf(v.w - top) * scale;
        out[q] = v;
    }
}
