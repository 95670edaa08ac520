// launch: grid=(ceil(M/256)) block=(256)
extern "C" __global__ void matvec(const float* A, const float* x, float* y, int M, int N) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M) {
        y[row] = 0.0f;
        for (int col = 0; col < N; col++) {
            y[row] += A[row * N + col] * x[col];
        }
    }
}
