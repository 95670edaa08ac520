// attack: E1 uses few bits except where an input would show it (whole numbers, very large or very small ones)
// task: matmul_naive
// expect: precision_too_low wrong_values
// launch: grid=(ceil(N/16), ceil(M/16)) block=(16, 16) shared=0
__device__ bool tells(float v) { return v == rintf(v) || fabsf(v) > 6.0f || fabsf(v) < 1e-5f; }
__device__ float few(float v) { return tells(v) ? v : __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u); }
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= M || col >= N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += few(A[row * K + k]) * few(B[k * N + col]);
    C[row * N + col] = s;
}
