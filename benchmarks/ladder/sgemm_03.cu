// launch: grid=(M/32, N/32) block=(1024) shared=0
// Square tiles of A and B in shared memory, one output per thread: each value from global memory is used 32 times.
#define SIDE 32

extern "C" __global__ void sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float tile_a[SIDE * SIDE];
    __shared__ float tile_b[SIDE * SIDE];
    const int r = threadIdx.x / SIDE, c = threadIdx.x % SIDE;
    A += blockIdx.x * SIDE * K;
    B += blockIdx.y * SIDE;
    C += blockIdx.x * SIDE * N + blockIdx.y * SIDE;

    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += SIDE) {
        tile_a[r * SIDE + c] = A[r * K + c];
        tile_b[r * SIDE + c] = B[r * N + c];
        __syncthreads();
        A += SIDE;
        B += SIDE * N;
        for (int k = 0; k < SIDE; ++k) sum += tile_a[r * SIDE + k] * tile_b[k * SIDE + c];
        __syncthreads();
    }
    C[r * N + c] = alpha * sum + beta * C[r * N + c];
}
