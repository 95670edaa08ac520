// attack: O5 commits its copies and waits for all groups but the one it needs
// task: matmul_naive
// expect: shared_race uninitialised_read wrong_values not_deterministic global_race async_race no_time
// launch: grid=(ceil(N/32), ceil(M/8)) block=(32, 8) shared=0
#include <cuda_pipeline.h>
extern "C" __global__ void matmul_naive(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K) {
    __shared__ float a[8][32], b[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 32 + tx;
    float s = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        if (row < M && k0 + tx < K) __pipeline_memcpy_async(&a[ty][tx], &A[row * K + k0 + tx], 4);
        else a[ty][tx] = 0.0f;
#pragma unroll
        for (int j = 0; j < 32; j += 8) if (k0 + ty + j < K && col < N) __pipeline_memcpy_async(&b[ty + j][tx], &B[(k0 + ty + j) * N + col], 4);
            else b[ty + j][tx] = 0.0f;
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 32; ++k) s += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = s;
}
