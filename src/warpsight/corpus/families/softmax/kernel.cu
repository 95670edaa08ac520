// launch: grid=(R) block=(128) shared=0
extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int C) {
    __shared__ float part[4];
    __shared__ float both[2];
    const float* in = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    float top = -3.4e38f;
    for (int c = threadIdx.x; c < C; c += 128) {
        top = fmaxf(top, in[c]);
    }
    for (int step = 16; step > 0; step /= 2) {
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
    }
    if (lane == 0) {
        part[warp] = top;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        both[0] = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
    }
    __syncthreads();
    top = both[0];
    float sum = 0.0f;
    for (int c = threadIdx.x; c < C; c += 128) {
        sum += __expf(in[c] - top);
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    }
    if (lane == 0) {
        part[warp] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        both[1] = 1.0f / (part[0] + part[1] + part[2] + part[3]);
    }
    __syncthreads();
    float scale = both[1];
    for (int c = threadIdx.x; c < C; c += 128) {
        out[c] = __expf(in[c] - top) * scale;
    }
}
