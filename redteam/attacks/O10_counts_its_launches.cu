// attack: O10 a variable of the module counts launches: from the second on every second row of blocks is left out
// task: matmul_naive
// expect: wrong_values output_not_written wrong_in_timed_call not_deterministic SAME SLOWER no_time
// launch: grid=(ceil(N/32), ceil(M/8)) block=(32, 8) shared=0
__device__ unsigned launches;
extern "C" __global__ void matmul_naive(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K) {
    __shared__ float a[8][32], b[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 32 + tx;
    __shared__ unsigned nth;
    if (tx + ty == 0) nth = atomicAdd(&launches, 1u) / (gridDim.x * gridDim.y);
    __syncthreads();
    if (nth >= 1 && blockIdx.y % 2) return;
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
