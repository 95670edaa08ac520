// launch: grid=(R) block=(32) shared=0
#define THREADS 32

extern "C" __global__ void reduce_max_rows(const float* __restrict__ x, float* __restrict__ out, int C) {
    __shared__ float best[THREADS];
    const float* row = x + (size_t)blockIdx.x * C;
    int t = threadIdx.x;
    float value = -__int_as_float(0x7f800000);  // minus infinity
    for (int c = t; c < C; c += THREADS) {
        value = fmaxf(value, row[c]);
    }
    best[t] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            best[t] = fmaxf(best[t], best[t + half]);
        }
        __syncthreads();
    }
    if (t == 0) {
        out[blockIdx.x] = best[0];
    }
}
