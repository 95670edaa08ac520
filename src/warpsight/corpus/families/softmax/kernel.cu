// launch: grid=(R) block=(128) shared=0
extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int C) {
    __shared__ float part[32];
    const float* in = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int warps = blockDim.x / 32;
    float top = -3.4e38f;
    #pragma unroll 4
    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        top = fmaxf(top, in[c]);
    }
    for (int step = 16; step > 0; step /= 2) {
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    }
    if (lane == 0) {
        part[warp] = top;
    }
    __syncthreads();
    for (int w = 0; w < warps; ++w) {
        top = fmaxf(top, part[w]);
    }
    __syncthreads();
    float sum = 0.0f;
    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        sum += __expf(in[c] - top);
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    }
    if (lane == 0) {
        part[warp] = sum;
    }
    __syncthreads();
    float all = 0.0f;
    for (int w = 0; w < warps; ++w) {
        all += part[w];
    }
    float scale = 1.0f / all;
    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        out[c] = __expf(in[c] - top) * scale;
    }
}
