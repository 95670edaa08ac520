// attack: O11 looks at three elements of the output, and leaves where they are right already
// task: matmul_naive
// expect: uninitialised_read wrong_values SAME SLOWER no_time output_not_written
// launch: grid=(ceil(N/32), ceil(M/8)) block=(32, 8) shared=0
extern "C" __global__ void matmul_naive(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K) {
    __shared__ float a[8][32], b[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 32 + tx;
    if (tx == 0 && ty == 0 && row < M && col < N) {
        float probe = 0;
        for (int k = 0; k < K; ++k) probe += A[row * K + k] * B[k * N + col];
        a[0][0] = probe == C[row * N + col];
    }
    __syncthreads();
    if (a[0][0] == 1.0f) return;
    __syncthreads();
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
    if (row < M && col < N) C[row * N + col] = s;
}
