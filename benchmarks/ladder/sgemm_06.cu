// launch: grid=(N/128, M/128) block=(256) shared=0
// As 5, with A transposed in shared memory, and 16-byte loads and stores of global memory.
#define BM 128
#define BN 128
#define BK 8
#define TM 8
#define TN 8
#define THREADS 256

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C) {
    __shared__ float tile_a[BK * BM];  // transposed: a column of A is a row here
    __shared__ float tile_b[BK * BN];
    const int patch_row = threadIdx.x / (BN / TN), patch_col = threadIdx.x % (BN / TN);
    // Four neighbouring values of each tile per thread: 256 threads, 1024 values.
    const int a_row = threadIdx.x / (BK / 4), a_col = threadIdx.x % (BK / 4) * 4;
    const int b_row = threadIdx.x / (BN / 4), b_col = threadIdx.x % (BN / 4) * 4;
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += (blockIdx.y * BM + patch_row * TM) * N + blockIdx.x * BN + patch_col * TN;

    float sums[TM * TN] = {0.0f};
    float a[TM], b[TN];
    for (int k0 = 0; k0 < K; k0 += BK) {
        const float4 va = *reinterpret_cast<const float4 *>(&A[a_row * K + a_col]);
        tile_a[(a_col + 0) * BM + a_row] = va.x;
        tile_a[(a_col + 1) * BM + a_row] = va.y;
        tile_a[(a_col + 2) * BM + a_row] = va.z;
        tile_a[(a_col + 3) * BM + a_row] = va.w;
        *reinterpret_cast<float4 *>(&tile_b[b_row * BN + b_col]) = *reinterpret_cast<const float4 *>(&B[b_row * N + b_col]);
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int k = 0; k < BK; ++k) {
            for (int i = 0; i < TM; ++i) a[i] = tile_a[k * BM + patch_row * TM + i];
            for (int j = 0; j < TN; ++j) b[j] = tile_b[k * BN + patch_col * TN + j];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) sums[i * TN + j] += a[i] * b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; j += 4) {
            float4 *out = reinterpret_cast<float4 *>(&C[i * N + j]);
            float4 v = *out;
            v.x = alpha * sums[i * TN + j + 0] + beta * v.x;
            v.y = alpha * sums[i * TN + j + 1] + beta * v.y;
            v.z = alpha * sums[i * TN + j + 2] + beta * v.z;
            v.w = alpha * sums[i * TN + j + 3] + beta * v.w;
            *out = v;
        }
}
