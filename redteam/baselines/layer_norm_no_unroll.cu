// launch: grid=(R) block=(256) shared=0
#define THREADS 256
#define WARPS (THREADS / 32)

// The sum over the block, known to every thread.
__device__ float block_sum(float value, float* partial) {
    for (int step = 16; step > 0; step /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, step);
    }
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = value;
    }
    __syncthreads();
    float total = 0.0f;
    for (int w = 0; w < WARPS; ++w) {
        total += partial[w];
    }
    __syncthreads();
    return total;
}

extern "C" __global__ void layer_norm(const float* __restrict__ x, const float* __restrict__ gamma,
                                      const float* __restrict__ beta, float* __restrict__ y, float eps, int C) {
    __shared__ float partial[WARPS];
    const float* in = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;

    float sum = 0.0f;
#pragma unroll 1
    for (int c = threadIdx.x; c < C; c += THREADS) {
        sum += in[c];
    }
    float mean = block_sum(sum, partial) / C;

    float squares = 0.0f;
#pragma unroll 1
    for (int c = threadIdx.x; c < C; c += THREADS) {
        float d = in[c] - mean;
        squares += d * d;
    }
    float scale = rsqrtf(block_sum(squares, partial) / C + eps);

#pragma unroll 1
    for (int c = threadIdx.x; c < C; c += THREADS) {
        out[c] = (in[c] - mean) * scale * gamma[c] + beta[c];
    }
}
