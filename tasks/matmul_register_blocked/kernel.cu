// launch: grid=(ceil(N/64), ceil(M/64)) block=(16, 16) shared=0
#define BM 64
#define BN 64
#define BK 16
#define TM 4
#define TN 4
#define THREADS 256

extern "C" __global__ void __launch_bounds__(THREADS)
matmul_register_blocked(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                        int M, int N, int K) {
    __shared__ float tile_a[BK][BM];  // transposed: a column of A is a row here
    __shared__ float tile_b[BK][BN];
    int tx = threadIdx.x, ty = threadIdx.y;
    int tid = ty * blockDim.x + tx;
    int row0 = blockIdx.y * BM;
    int col0 = blockIdx.x * BN;
    float acc[TM][TN] = {};

    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int e = tid; e < BM * BK; e += THREADS) {
            int r = e / BK, k = e % BK;
            tile_a[k][r] = (row0 + r < M && k0 + k < K) ? A[(row0 + r) * K + k0 + k] : 0.0f;
        }
        for (int e = tid; e < BK * BN; e += THREADS) {
            int k = e / BN, c = e % BN;
            tile_b[k][c] = (k0 + k < K && col0 + c < N) ? B[(k0 + k) * N + col0 + c] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
#pragma unroll
            for (int i = 0; i < TM; ++i) a[i] = tile_a[k][ty * TM + i];
#pragma unroll
            for (int j = 0; j < TN; ++j) b[j] = tile_b[k][tx * TN + j];
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j) acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            int row = row0 + ty * TM + i, col = col0 + tx * TN + j;
            if (row < M && col < N) C[row * N + col] = acc[i][j];
        }
    }
}
