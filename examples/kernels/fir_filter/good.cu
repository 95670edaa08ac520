// launch: grid=(ceil(N/1024)) block=(128)
// A block makes 1024 outputs from a piece of the signal in shared memory, a thread eight neighbours: each sample that it
// reads serves eight of them, through a window in registers. One place in nine stays empty, so lanes meet in no bank.
#define TAPS 64
#define EACH 8
#define SPAN (128 * EACH)
#define AT(i) ((i) + (i) / 8)

extern "C" __global__ void fir_filter(const float* __restrict__ x, const float* __restrict__ taps,
                                      float* __restrict__ y, int N) {
    __shared__ float piece[AT(SPAN + TAPS) + 1];
    __shared__ float4 h4[TAPS / 4];
    int start = blockIdx.x * SPAN;
    for (int i = threadIdx.x; i < SPAN + TAPS; i += 128) {
        int n = start - TAPS + i;
        piece[AT(i)] = n >= 0 && n < N ? x[n] : 0.0f;
    }
    if (threadIdx.x < TAPS / 4) h4[threadIdx.x] = reinterpret_cast<const float4*>(taps)[threadIdx.x];
    __syncthreads();

    int first = threadIdx.x * EACH + TAPS;  // of this thread's outputs, in the piece
    float window[EACH], sum[EACH] = {};
#pragma unroll
    for (int e = 0; e < EACH; ++e) window[e] = piece[AT(first + e)];
#pragma unroll
    for (int k = 0; k < TAPS; k += 4) {
        float4 quad = h4[k / 4];
        float h[4] = {quad.x, quad.y, quad.z, quad.w};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
#pragma unroll
            for (int e = 0; e < EACH; ++e) sum[e] += h[j] * window[e];
#pragma unroll
            for (int e = EACH - 1; e > 0; --e) window[e] = window[e - 1];
            window[0] = piece[AT(first - k - j - 1)];
        }
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < EACH; ++e) piece[AT(threadIdx.x * EACH + e)] = sum[e];
    __syncthreads();
    for (int i = threadIdx.x; i < SPAN; i += 128) {
        if (start + i < N) y[start + i] = piece[AT(i)];
    }
}
