// launch: grid=(N/1024) block=(256) shared=0
#define TAPS 64

// A piece of the signal in shared memory; a thread makes four outputs from a window that it shifts through registers.
extern "C" __global__ void k(const float *x, const float *w, float *y) {  // x is TAPS longer than y
    __shared__ __align__(16) float signal[1024 + TAPS], weights[TAPS];
    const int t = threadIdx.x, i0 = blockIdx.x * 1024;
    for (int e = t; e < 1024 + TAPS; e += 256) signal[e] = x[i0 + e];
    if (t < TAPS) weights[t] = w[t];
    __syncthreads();
    const float4 *const signal4 = (const float4 *)signal, *const weights4 = (const float4 *)weights;
    float sums[4] = {};
    float4 now = signal4[t];
#pragma unroll
    for (int j0 = 0; j0 < TAPS; j0 += 4) {
        const float4 next = signal4[t + j0 / 4 + 1], wv = weights4[j0 / 4];
        const float window[8] = {now.x, now.y, now.z, now.w, next.x, next.y, next.z, next.w};
        const float ws[4] = {wv.x, wv.y, wv.z, wv.w};
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[i] += ws[j] * window[i + j];
        now = next;
    }
    *(float4 *)&y[i0 + t * 4] = make_float4(sums[0], sums[1], sums[2], sums[3]);
}
