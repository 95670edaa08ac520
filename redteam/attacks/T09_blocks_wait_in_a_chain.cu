// attack: T9 each block waits for the one before it, so that the GPU runs one block at a time; in the traced first one nothing waits
// task: matmul_naive
// expect: no_time SAME SLOWER deadlock deadline interval_too_wide
// launch: grid=(ceil(N/16) * ceil(M/16)) block=(16, 16) shared=0
__device__ unsigned ticket_of, finished;
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[16][16], b[16][16];
    __shared__ unsigned t;
    int tx = threadIdx.x, ty = threadIdx.y;
    if (tx + ty == 0) {
        t = atomicInc(&ticket_of, gridDim.x - 1);
        while (atomicAdd(&finished, 0u) < t) {}
    }
    __syncthreads();
    int across = (N + 15) / 16, row = t / across * 16 + ty, col = t % across * 16 + tx;
    float s = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
        a[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        b[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; ++k) s += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = s;
    if (tx + ty == 0) atomicInc(&finished, gridDim.x - 1);
}
