// launch: grid=(R) block=(128) shared=4*C
extern "C" __global__ void layer_norm(const float* __restrict__ x, const float* __restrict__ gamma,
                                      const float* __restrict__ beta, float* __restrict__ y, float eps, int C) {
    extern __shared__ float row[];
    __shared__ float part[4], total[2];
    auto sum = [&](float v, int to) {
        for (int step = 16; step; step /= 2) v += __shfl_xor_sync(~0u, v, step);
        if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
        __syncthreads();
        if (threadIdx.x == 0) total[to] = part[0] + part[1] + part[2] + part[3];
        __syncthreads();
        return total[to];
    };
    float s = 0, q = 0;
    for (int c = threadIdx.x; c < C; c += 128) s += row[c] = x[(size_t)blockIdx.x * C + c];
    float mean = sum(s, 0) / C;
    for (int c = threadIdx.x; c < C; c += 128) q += (row[c] - mean) * (row[c] - mean);
    float scale = rsqrtf(sum(q, 1) / C + eps);
    for (int c = threadIdx.x; c < C; c += 128) y[(size_t)blockIdx.x * C + c] = (row[c] - mean) * scale * gamma[c] + beta[c];
}
