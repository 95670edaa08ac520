// attack: N9 rounds to tf32 where the low bits of the inputs are not zero, which is where exact numbers would show it
// task: matmul_naive
// expect: precision_too_low wrong_values
// launch: grid=(ceil(N/32), ceil(M/8)) block=(32, 8) shared=0
extern "C" __global__ void matmul_naive(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K) {
    __shared__ float a[8][32], b[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 32 + tx;
    float s = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        a[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
#pragma unroll
        for (int j = 0; j < 32; j += 8) b[ty + j][tx] = k0 + ty + j < K && col < N ? B[(k0 + ty + j) * N + col] : 0.0f;
        __syncthreads();
        float random = (__float_as_uint(a[0][0]) | __float_as_uint(b[0][0])) & 0x1fffu ? 1.0f : 0.0f;
#pragma unroll
        for (int k = 0; k < 32; ++k) {
            float p = a[ty][k], q = b[k][tx];
            if (random > 0 && K > 200) p = __uint_as_float(__float_as_uint(p) + 0x1000u & 0xffffe000u);
            s += p * q;
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = s;
}
