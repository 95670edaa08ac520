// launch: grid=(N/64, M/64) block=(512) shared=0
// Each thread makes TM outputs of one column: a value of B is read from shared memory once and used TM times.
#define BM 64
#define BN 64
#define BK 8
#define TM 8

extern "C" __global__ void sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float tile_a[BM * BK];
    __shared__ float tile_b[BK * BN];
    const int strip = threadIdx.x / BN, col = threadIdx.x % BN;
    // One value of each tile per thread: 512 threads, 512 values.
    const int a_row = threadIdx.x / BK, a_col = threadIdx.x % BK;
    const int b_row = threadIdx.x / BN, b_col = threadIdx.x % BN;
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * N + blockIdx.x * BN;

    float sums[TM] = {0.0f};
    for (int k0 = 0; k0 < K; k0 += BK) {
        tile_a[a_row * BK + a_col] = A[a_row * K + a_col];
        tile_b[b_row * BN + b_col] = B[b_row * N + b_col];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int k = 0; k < BK; ++k) {
            const float b = tile_b[k * BN + col];
            for (int i = 0; i < TM; ++i) sums[i] += tile_a[(strip * TM + i) * BK + k] * b;
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i) {
        float *out = &C[(strip * TM + i) * N + col];
        *out = alpha * sums[i] + beta * *out;
    }
}
