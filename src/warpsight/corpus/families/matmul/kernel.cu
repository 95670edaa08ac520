// launch: grid=(ceil(N/32), ceil(M/32)) block=(32, 8) shared=0
extern "C" __global__ void matmul(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M,
                                  int N, int K) {
    __shared__ float As[32][33];
    __shared__ float Bs[32][33];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * 32 + ty;
    int col = blockIdx.x * 32 + tx;
    float acc[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k0 = 0; k0 < K; k0 += 32) {
        for (int j = 0; j < 32; j += 8) {
            As[ty + j][tx] = row + j < M && k0 + tx < K ? A[(size_t)(row + j) * K + k0 + tx] : 0.0f;
            Bs[ty + j][tx] = k0 + ty + j < K && col < N ? B[(size_t)(k0 + ty + j) * N + col] : 0.0f;
        }
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 32; ++k) {
            float b = Bs[k][tx];
            for (int j = 0; j < 4; ++j) {
                acc[j] += As[ty + 8 * j][k] * b;
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j) {
        if (row + 8 * j < M && col < N) {
            C[(size_t)(row + 8 * j) * N + col] = acc[j];
        }
    }
}
