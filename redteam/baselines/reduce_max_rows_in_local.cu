// launch: grid=(R) block=(256) shared=0
extern "C" __global__ void reduce_max_rows(const float* __restrict__ x, float* __restrict__ out, int C) {
    __shared__ float best[8];
    volatile float mine[64];
    const float* row = x + (size_t)blockIdx.x * C;
    for (int i = 0; i < 64; ++i) mine[i] = -__int_as_float(0x7f800000);
    for (int c = threadIdx.x, i = 0; c < C; c += 256, ++i) mine[i % 64] = fmaxf(mine[i % 64], row[c]);
    float value = mine[0];
    for (int i = 1; i < 64; ++i) value = fmaxf(value, mine[i]);
    for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_down_sync(0xffffffffu, value, step));
    if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x) return;
    for (int i = 1; i < 8; ++i) value = fmaxf(value, best[i]);
    out[blockIdx.x] = value;
}
