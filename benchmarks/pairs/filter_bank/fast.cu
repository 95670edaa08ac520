// launch: grid=(N/128) block=(32, 8) shared=0
#define TAPS 32
#define FILTERS 32

// A thread makes four neighbouring outputs of four filters, four taps at a time: 5 vector loads for 64 multiply-adds.
extern "C" __global__ void k(const float *x, const float *w, float *y, int n) {
    __shared__ __align__(16) float signal[128 + TAPS], weights[TAPS][FILTERS];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 32 + tx, i0 = blockIdx.x * 128;
    if (t < 128 + TAPS) signal[t] = x[i0 + t];
    for (int e = t; e < FILTERS * TAPS; e += 256) weights[e / FILTERS][e % FILTERS] = w[e % FILTERS * TAPS + e / FILTERS];
    __syncthreads();
    const float4 *const signal4 = (const float4 *)signal;
    float sums[4][4] = {};
    float4 now = signal4[tx];
#pragma unroll
    for (int j0 = 0; j0 < TAPS; j0 += 4) {
        const float4 next = signal4[tx + j0 / 4 + 1];
        const float window[8] = {now.x, now.y, now.z, now.w, next.x, next.y, next.z, next.w};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const float4 wv = *(const float4 *)&weights[j0 + j][ty * 4];
            const float ws[4] = {wv.x, wv.y, wv.z, wv.w};
#pragma unroll
            for (int f = 0; f < 4; ++f)
#pragma unroll
                for (int i = 0; i < 4; ++i) sums[f][i] += ws[f] * window[i + j];
        }
        now = next;
    }
    for (int f = 0; f < 4; ++f)
        *(float4 *)&y[(ty * 4 + f) * n + i0 + tx * 4] = make_float4(sums[f][0], sums[f][1], sums[f][2], sums[f][3]);
}
