// launch: grid=(ceil(N/64), ceil(M/64)) block=(16, 16) shared=0
extern "C" __global__ void __launch_bounds__(256) matmul_naive(const float* __restrict__ A, const float* __restrict__ B,
                                                               float* __restrict__ C, int M, int N, int K) {
    __shared__ float a[16][65], b[16][64];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    float s[4][4] = {};
    for (int base = 0; base < K; base += 16) {
        for (int e = t; e < 1024; e += 256) {
            int r = e / 16, k = e % 16;
            a[k][r] = row0 + r < M && base + k < K ? A[(row0 + r) * K + base + k] : 0.0f;
            int kk = e / 64, c = e % 64;
            b[kk][c] = col0 + c < N && base + kk < K ? B[(base + kk) * N + col0 + c] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k)
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) s[i][j] += a[k][ty + 16 * i] * b[k][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            int row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
            if (row < M && col < N) C[row * N + col] = s[i][j];
        }
}
