// launch: grid=(ceil(M/16), ceil(F/64)) block=(16, 16)
// Blocked in shared memory: 64 frames and 16 bands, four frames in the registers of a thread.
extern "C" __global__ void mel_energies(const float* __restrict__ power, const float* __restrict__ bank,
                                        float* __restrict__ mel, int F, int M, int B) {
    __shared__ float frames[32][65], bands[32][17];
    int tid = threadIdx.y * 16 + threadIdx.x, m0 = blockIdx.x * 16, f0 = blockIdx.y * 64;
    float sum[4] = {};
    for (int b0 = 0; b0 < B; b0 += 32) {
        int b = b0 + tid % 32;
#pragma unroll
        for (int r = tid / 32; r < 64; r += 8) {
            frames[tid % 32][r] = f0 + r < F && b < B ? power[(size_t)(f0 + r) * B + b] : 0.0f;
        }
#pragma unroll
        for (int r = tid / 32; r < 16; r += 8) {
            bands[tid % 32][r] = m0 + r < M && b < B ? bank[(size_t)(m0 + r) * B + b] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; ++k) {
            float w = bands[k][threadIdx.x];
#pragma unroll
            for (int r = 0; r < 4; ++r) sum[r] += frames[k][threadIdx.y + r * 16] * w;
        }
        __syncthreads();
    }
    int m = m0 + threadIdx.x;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        int f = f0 + threadIdx.y + r * 16;
        if (m < M && f < F) mel[(size_t)f * M + m] = logf(sum[r] + 1e-6f);
    }
}
