// launch: grid=(R) block=(32) shared=0
extern "C" __global__ void scan(const float* __restrict__ x, float* __restrict__ y, int C) {
    size_t base = (size_t)blockIdx.x * C;
    float carry = 0;
    for (int c0 = 0; c0 < C; c0 += 32) {
        int c = c0 + threadIdx.x;
        float v = c < C ? x[base + c] : 0.0f;
        for (int step = 1; step < 32; step *= 2) {
            float u = __shfl_up_sync(~0u, v, step);
            if (threadIdx.x >= step) v += u;
        }
        v += carry;
        if (c < C) y[base + c] = v;
        carry = __shfl_sync(~0u, v, 31);
    }
}
