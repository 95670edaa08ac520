// launch: grid=(N/32, N/32) block=(32, 32) shared=0
#define SIDE 32

extern "C" __global__ void k(const float *A, const float *B, float *C, int n) {
    __shared__ float a[SIDE][SIDE], b[SIDE][SIDE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int col = blockIdx.x * SIDE + tx, row = blockIdx.y * SIDE + ty;
    float sum = 0.0f;
    for (int i0 = 0; i0 < n; i0 += SIDE) {
        a[ty][tx] = A[row * n + i0 + tx];
        b[ty][tx] = B[(i0 + ty) * n + col];
        __syncthreads();
        for (int i = 0; i < SIDE; ++i) sum += a[ty][i] * b[i][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}
