// launch: grid=(N/64, 8) block=(64, 4) shared=0
#define TAPS 32

// 32 filters over one signal; a thread makes one output of one filter.
extern "C" __global__ void k(const float *x, const float *w, float *y, int n) {
    __shared__ float signal[64 + TAPS], weights[4][TAPS];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 64 + tx, i0 = blockIdx.x * 64, f0 = blockIdx.y * 4;
    if (t < 64 + TAPS) signal[t] = x[i0 + t];
    if (t < 4 * TAPS) weights[t / TAPS][t % TAPS] = w[f0 * TAPS + t];
    __syncthreads();
    float sum = 0.0f;
    for (int j = 0; j < TAPS; ++j) sum += weights[ty][j] * signal[tx + j];
    y[(f0 + ty) * n + i0 + tx] = sum;
}
