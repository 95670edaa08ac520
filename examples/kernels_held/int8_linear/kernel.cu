// launch: grid=(ceil(M/16), ceil(N/16)) block=(16, 16)
extern "C" __global__ void int8_linear(const signed char* X, const signed char* W, int* Y, int M, int N, int K) {
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    int n = blockIdx.y * blockDim.y + threadIdx.y;
    if (m < M && n < N) {
        int sum = 0;
        for (int k = 0; k < K; k++) {
            sum += X[m * K + k] * W[n * K + k];
        }
        Y[m * N + n] = sum;
    }
}
