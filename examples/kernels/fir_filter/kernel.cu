// launch: grid=(ceil(N/256)) block=(256)
extern "C" __global__ void fir_filter(const float* x, const float* taps, float* y, int N) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= N) return;
    y[n] = 0.0f;
    for (int k = 0; k < 64; k++) {
        if (n - k >= 0) {
            y[n] += taps[k] * x[n - k];
        }
    }
}
