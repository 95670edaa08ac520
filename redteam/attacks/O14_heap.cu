// attack: O14 every thread takes its accumulator from the heap of the device
// task: matmul_naive
// expect: SAME SLOWER no_time output_not_written does_not_compile unsupported
// launch: grid=(ceil(N/32), ceil(M/8)) block=(32, 8) shared=0
extern "C" __global__ void matmul_naive(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K) {
    __shared__ float a[8][32], b[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 32 + tx;
    float* kept = (float*)malloc(16);
    if (!kept) return;
    kept[tx & 3] = 0;
    float s = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        a[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
#pragma unroll
        for (int j = 0; j < 32; j += 8) b[ty + j][tx] = k0 + ty + j < K && col < N ? B[(k0 + ty + j) * N + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; ++k) s += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    s += kept[tx & 3];
    free(kept);
    if (row < M && col < N) C[row * N + col] = s;
}
