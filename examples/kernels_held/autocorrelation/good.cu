// launch: grid=(ceil(L/4)) block=(512)
// A block for four neighbouring lags goes through the signal side by side; one read of x[i] serves all four.
#define LAGS 4

extern "C" __global__ void autocorrelation(const float* __restrict__ x, float* __restrict__ r, int N, int L) {
    __shared__ float partial[LAGS][16];
    int lag = blockIdx.x * LAGS;
    float sum[LAGS] = {};
    int full = N - lag - (LAGS - 1);  // all four partners are there
#pragma unroll 4
    for (int i = threadIdx.x; i < full; i += 512) {
        float v = x[i];
#pragma unroll
        for (int l = 0; l < LAGS; ++l) sum[l] += v * x[i + lag + l];
    }
    if (threadIdx.x < LAGS - 1) {
        int i = max(full, 0) + threadIdx.x;
        for (int l = 0; l < LAGS; ++l) {
            if (i + lag + l < N) sum[l] += x[i] * x[i + lag + l];
        }
    }
#pragma unroll
    for (int l = 0; l < LAGS; ++l) {
        for (int step = 16; step > 0; step /= 2) sum[l] += __shfl_xor_sync(0xffffffffu, sum[l], step);
        if (threadIdx.x % 32 == 0) partial[l][threadIdx.x / 32] = sum[l];
    }
    __syncthreads();
    if (threadIdx.x < LAGS && lag + threadIdx.x < L) {
        float total = 0.0f;
        for (int w = 0; w < 16; ++w) total += partial[threadIdx.x][w];
        r[lag + threadIdx.x] = total;
    }
}
