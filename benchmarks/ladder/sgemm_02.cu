// launch: grid=(M/32, N/32) block=(1024) shared=0
// As 1, but neighbouring threads walk along a row of C: one value of A for the warp, one full line of B and of C.
#define SIDE 32

extern "C" __global__ void sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    const int row = blockIdx.x * SIDE + threadIdx.x / SIDE;
    const int col = blockIdx.y * SIDE + threadIdx.x % SIDE;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = alpha * sum + beta * C[row * N + col];
    }
}
