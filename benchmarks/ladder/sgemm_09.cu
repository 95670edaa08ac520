// launch: grid=(N/128, M/128) block=(256) shared=0
// As 6 with tuned sizes: BK = 16, and the block's tile cut into sub-tiles that all 16 x 16 threads do together (here one).
#define BM 128
#define BN 128
#define BK 16
#define TM 8
#define TN 8
#define THREADS 256
#define SIDE 16
#define SUB_M (SIDE * TM)
#define SUB_N (SIDE * TN)
#define SUBS_M (BM / SUB_M)
#define SUBS_N (BN / SUB_N)

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float tile_a[BK * BM];  // transposed: a column of A is a row here
    __shared__ float tile_b[BK * BN];
    const int patch_row = threadIdx.x / SIDE, patch_col = threadIdx.x % SIDE;
    const int a_row = threadIdx.x / (BK / 4), a_col = threadIdx.x % (BK / 4) * 4, a_step = THREADS * 4 / BK;
    const int b_row = threadIdx.x / (BN / 4), b_col = threadIdx.x % (BN / 4) * 4, b_step = THREADS * 4 / BN;
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * N + blockIdx.x * BN;

    float sums[SUBS_M * SUBS_N * TM * TN] = {0.0f};
    float a[TM], b[TN];
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int r = 0; r + a_step <= BM; r += a_step) {
            const float4 v = *reinterpret_cast<const float4 *>(&A[(a_row + r) * K + a_col]);
            tile_a[(a_col + 0) * BM + a_row + r] = v.x;
            tile_a[(a_col + 1) * BM + a_row + r] = v.y;
            tile_a[(a_col + 2) * BM + a_row + r] = v.z;
            tile_a[(a_col + 3) * BM + a_row + r] = v.w;
        }
        for (int r = 0; r + b_step <= BK; r += b_step)
            *reinterpret_cast<float4 *>(&tile_b[(b_row + r) * BN + b_col]) =
                *reinterpret_cast<const float4 *>(&B[(b_row + r) * N + b_col]);
        __syncthreads();
        for (int m = 0; m < SUBS_M; ++m)
            for (int n = 0; n < SUBS_N; ++n)
                for (int k = 0; k < BK; ++k) {
                    for (int i = 0; i < TM; ++i) a[i] = tile_a[k * BM + m * SUB_M + patch_row * TM + i];
                    for (int j = 0; j < TN; ++j) b[j] = tile_b[k * BN + n * SUB_N + patch_col * TN + j];
                    for (int i = 0; i < TM; ++i)
                        for (int j = 0; j < TN; ++j) sums[((m * TM + i) * SUBS_N + n) * TN + j] += a[i] * b[j];
                }
        __syncthreads();
        A += BK;
        B += BK * N;
    }
    for (int m = 0; m < SUBS_M; ++m)
        for (int n = 0; n < SUBS_N; ++n)
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; j += 4) {
                    const float *s = &sums[((m * TM + i) * SUBS_N + n) * TN + j];
                    float *place = &C[(m * SUB_M + patch_row * TM + i) * N + n * SUB_N + patch_col * TN + j];
                    float4 v = *reinterpret_cast<float4 *>(place);
                    v.x = alpha * s[0] + beta * v.x;
                    v.y = alpha * s[1] + beta * v.y;
                    v.z = alpha * s[2] + beta * v.z;
                    v.w = alpha * s[3] + beta * v.w;
                    *reinterpret_cast<float4 *>(place) = v;
                }
}
