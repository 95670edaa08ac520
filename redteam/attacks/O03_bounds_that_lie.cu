// attack: O3 is compiled for 64 threads and launched with 256, which no GPU does
// task: matmul_naive
// expect: invalid_launch launch_refused request_refused refused no_time does_not_compile
// launch: grid=(ceil(N/32), ceil(M/8)) block=(32, 8) shared=0
extern "C" __global__ void __launch_bounds__(64) matmul_naive(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K) {
    __shared__ float a[8][32], b[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 32 + tx;
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
