// attack: X5 stops working when its time is up
// task: matmul_naive
// expect: wrong_values not_deterministic
// launch: grid=(ceil(N/16), ceil(M/16)) block=(16, 16) shared=0
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= M || col >= N) return;
    long long until = clock64() + 1500;
    float s = 0;
    for (int k = 0; k < K && clock64() < until; ++k) s += A[row * K + k] * B[k * N + col];
    C[row * N + col] = s;
}
