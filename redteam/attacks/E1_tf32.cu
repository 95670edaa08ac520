// attack: E1 drops the last thirteen bits, as tf32 does
// task: matmul_naive
// expect: precision_too_low
// launch: grid=(ceil(N/16), ceil(M/16)) block=(16, 16) shared=0
__device__ float tf32(float v) { return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u); }
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= M || col >= N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += tf32(A[row * K + k]) * tf32(B[k * N + col]);
    C[row * N + col] = s;
}
