// launch: grid=(R) block=(256) shared=0
extern "C" __global__ void row_sum(const float* __restrict__ x, float* __restrict__ sums, int C) {
    __shared__ float part[32];
    const int threads = 256;
    const float* line = x + (size_t)blockIdx.x * C;
    int lane = threadIdx.x % 32;
    float total = 0.0f;
    float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
    int c = threadIdx.x;
    for (; c + 3 * threads < C; c += 4 * threads) {
        s0 += line[c];
        s1 += line[c + threads];
        s2 += line[c + 2 * threads];
        s3 += line[c + 3 * threads];
    }
    for (; c < C; c += threads) {
        total += line[c];
    }
    total += (s0 + s1) + (s2 + s3);
    for (int step = 16; step > 0; step /= 2) {
        total += __shfl_down_sync(0xffffffffu, total, step);
    }
    if (lane == 0) {
        part[threadIdx.x / 32] = total;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        total = lane < threads / 32 ? part[lane] : 0.0f;
        for (int step = 16; step > 0; step /= 2) {
            total += __shfl_down_sync(0xffffffffu, total, step);
        }
        if (lane == 0) {
            sums[blockIdx.x] = total;
        }
    }
}
