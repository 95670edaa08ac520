// launch: grid=(N/32, N/32) block=(32, 32) shared=0
#define SIDE 32

extern "C" __global__ void k(const float *A, const float *B, float *C, int n) {
    const int col = blockIdx.x * SIDE + threadIdx.x, row = blockIdx.y * SIDE + threadIdx.y;
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) sum += A[row * n + i] * B[i * n + col];
    C[row * n + col] = sum;
}
