// attack: E1 multiplies in half precision
// task: matmul_naive
// expect: precision_too_low wrong_values
// launch: grid=(ceil(N/16), ceil(M/16)) block=(16, 16) shared=0
#include <cuda_fp16.h>
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= M || col >= N) return;
    float s = 0;
    for (int k = 0; k < K; ++k)
        s += __half2float(__float2half(A[row * K + k])) * __half2float(__float2half(B[k * N + col]));
    C[row * N + col] = s;
}
