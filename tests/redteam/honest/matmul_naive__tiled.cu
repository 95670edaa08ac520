// launch: grid=(ceil(N/16), ceil(M/16)) block=(16, 16) shared=0
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[16][16], b[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty;
    float s = 0;
    for (int base = 0; base < K; base += 16) {
        a[ty][tx] = row < M && base + tx < K ? A[row * K + base + tx] : 0.0f;
        b[ty][tx] = col < N && base + ty < K ? B[(base + ty) * N + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) s = fmaf(a[ty][k], b[k][tx], s);
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = s;
}
