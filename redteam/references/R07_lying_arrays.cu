// launch: grid=(ceil(N/16), ceil(M/16)) block=(16, 16) shared=0
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row < M && col < N) C[row * N + col] = A[row * K] * B[col];
}
