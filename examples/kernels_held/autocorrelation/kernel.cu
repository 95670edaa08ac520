// launch: grid=(ceil(L/128)) block=(128)
extern "C" __global__ void autocorrelation(const float* x, float* r, int N, int L) {
    int lag = blockIdx.x * blockDim.x + threadIdx.x;
    if (lag < L) {
        float sum = 0.0f;
        for (int i = 0; i < N - lag; i++) {
            sum += x[i] * x[i + lag];
        }
        r[lag] = sum;
    }
}
