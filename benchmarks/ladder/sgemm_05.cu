// launch: grid=(N/128, M/128) block=(256) shared=0
// Each thread makes a TM x TN patch: TM + TN values from shared memory feed TM * TN multiply-adds.
#define BM 128
#define BN 128
#define BK 8
#define TM 8
#define TN 8
#define THREADS 256

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float tile_a[BM * BK];
    __shared__ float tile_b[BK * BN];
    const int patch_row = threadIdx.x / (BN / TN), patch_col = threadIdx.x % (BN / TN);
    const int a_row = threadIdx.x / BK, a_col = threadIdx.x % BK, a_step = THREADS / BK;
    const int b_row = threadIdx.x / BN, b_col = threadIdx.x % BN, b_step = THREADS / BN;
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * N + blockIdx.x * BN;

    float sums[TM * TN] = {0.0f};
    float a[TM], b[TN];
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int r = 0; r < BM; r += a_step) tile_a[(a_row + r) * BK + a_col] = A[(a_row + r) * K + a_col];
        for (int r = 0; r < BK; r += b_step) tile_b[(b_row + r) * BN + b_col] = B[(b_row + r) * N + b_col];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int k = 0; k < BK; ++k) {
            for (int i = 0; i < TM; ++i) a[i] = tile_a[(patch_row * TM + i) * BK + k];
            for (int j = 0; j < TN; ++j) b[j] = tile_b[k * BN + patch_col * TN + j];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) sums[i * TN + j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            float *out = &C[(patch_row * TM + i) * N + patch_col * TN + j];
            *out = alpha * sums[i * TN + j] + beta * *out;
        }
}
