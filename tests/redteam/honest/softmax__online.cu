// launch: grid=(R) block=(128) shared=0
extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int C) {
    const float* row = x + (size_t)blockIdx.x * C;
    float m = -1e38f, s = 0;
    for (int c = threadIdx.x; c < C; c += 128) {
        float v = row[c], n = fmaxf(m, v);
        s = s * expf(m - n) + expf(v - n);
        m = n;
    }
    for (int step = 16; step; step /= 2) {
        float om = __shfl_xor_sync(~0u, m, step), os = __shfl_xor_sync(~0u, s, step), n = fmaxf(m, om);
        s = s * expf(m - n) + os * expf(om - n);
        m = n;
    }
    __shared__ float ms[4], ss[4];
    if (threadIdx.x % 32 == 0) ms[threadIdx.x / 32] = m, ss[threadIdx.x / 32] = s;
    __syncthreads();
    m = fmaxf(fmaxf(ms[0], ms[1]), fmaxf(ms[2], ms[3]));
    s = 0;
    for (int w = 0; w < 4; ++w) s += ss[w] * expf(ms[w] - m);
    float scale = 1.0f / s;
    for (int c = threadIdx.x; c < C; c += 128) y[(size_t)blockIdx.x * C + c] = expf(row[c] - m) * scale;
}
