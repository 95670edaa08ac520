// launch: grid=(R) block=(64) shared=0
extern "C" __global__ void reduce_max_rows(const float* __restrict__ x, float* __restrict__ out, int C) {
    float m = -__int_as_float(0x7f800000);
    for (int c = threadIdx.x; c < C; c += 64) m = fmaxf(m, x[(size_t)blockIdx.x * C + c]);
    for (int step = 16; step; step /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, step));
    __shared__ float part[2];
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = fmaxf(part[0], part[1]);
}
