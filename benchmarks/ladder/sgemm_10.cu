// launch: grid=(N/128, M/128) block=(128) shared=0
// Warp tiling: a warp owns a WM x WN part of the block's tile and goes over it in WMITER x WNITER steps, from registers.
#define BM 128
#define BN 128
#define BK 16
#define WM 64
#define WN 64
#define TM 8
#define TN 4
#define THREADS 128
#define WNITER 4
#define WMITER (WM * WN / (32 * TM * TN * WNITER))
#define SUB_M (WM / WMITER)  // what a warp does at once: 32 patches of TM x TN
#define SUB_N (WN / WNITER)
#define FILLERS (THREADS)  // threads that fill a tile together

// Copies one BK-deep slice of A (transposed) and of B to shared memory.
__device__ __forceinline__ void fill(int K, int N, const float *A, const float *B, float *tile_a, float *tile_b, int t) {
    const int a_row = t / (BK / 4), a_col = t % (BK / 4) * 4, a_step = FILLERS * 4 / BK;
    const int b_row = t / (BN / 4), b_col = t % (BN / 4) * 4, b_step = FILLERS * 4 / BN;
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
}

// Adds the product of two slices to the sums of this thread; tile_a and tile_b point at its first patch.
__device__ __forceinline__ void multiply(const float *tile_a, const float *tile_b, float *sums) {
    float a[WMITER * TM], b[WNITER * TN];
    for (int k = 0; k < BK; ++k) {
        for (int m = 0; m < WMITER; ++m)
            for (int i = 0; i < TM; ++i) a[m * TM + i] = tile_a[k * BM + m * SUB_M + i];
        for (int n = 0; n < WNITER; ++n)
            for (int j = 0; j < TN; ++j) b[n * TN + j] = tile_b[k * BN + n * SUB_N + j];
        for (int m = 0; m < WMITER; ++m)
            for (int n = 0; n < WNITER; ++n)
                for (int i = 0; i < TM; ++i)
                    for (int j = 0; j < TN; ++j)
                        sums[(m * TM + i) * WNITER * TN + n * TN + j] += a[m * TM + i] * b[n * TN + j];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float tile_a[BK * BM];  // transposed: a column of A is a row here
    __shared__ float tile_b[BK * BN];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / (BN / WN) * WM + lane / (SUB_N / TN) * TM;
    const int col = warp % (BN / WN) * WN + lane % (SUB_N / TN) * TN;
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += (blockIdx.y * BM + row) * N + blockIdx.x * BN + col;

    float sums[WMITER * TM * WNITER * TN] = {0.0f};
    for (int k0 = 0; k0 < K; k0 += BK) {
        fill(K, N, A, B, tile_a, tile_b, threadIdx.x);
        __syncthreads();
        multiply(&tile_a[row], &tile_b[col], sums);
        A += BK;
        B += BK * N;
        __syncthreads();
    }
    for (int m = 0; m < WMITER; ++m)
        for (int n = 0; n < WNITER; ++n)
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; j += 4) {
                    const float *s = &sums[(m * TM + i) * WNITER * TN + n * TN + j];
                    float *place = &C[(m * SUB_M + i) * N + n * SUB_N + j];
                    float4 v = *reinterpret_cast<float4 *>(place);
                    v.x = alpha * s[0] + beta * v.x;
                    v.y = alpha * s[1] + beta * v.y;
                    v.z = alpha * s[2] + beta * v.z;
                    v.w = alpha * s[3] + beta * v.w;
                    *reinterpret_cast<float4 *>(place) = v;
                }
}
