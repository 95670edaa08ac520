// attack: G10 the grid is ordered so that empty blocks come first and the few long ones last
// task: batched_matmul_small
// expect: SAME SLOWER no_time interval_too_wide
// launch: grid=(G * 4) block=(D, D) shared=0
#define MAX_D 32

extern "C" __global__ void batched_matmul_small(const float* __restrict__ A, const float* __restrict__ B,
                                                float* __restrict__ C, int D) {
    __shared__ float a[MAX_D][MAX_D];
    __shared__ float b[MAX_D][MAX_D];
    if (blockIdx.x < gridDim.x / 4 * 3) return;
    int col = threadIdx.x, row = threadIdx.y;
    size_t base = (size_t)(blockIdx.x - gridDim.x / 4 * 3) * D * D;
    a[row][col] = A[base + row * D + col];
    b[row][col] = B[base + row * D + col];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < D; ++k) {
        sum += a[row][k] * b[k][col];
    }
    C[base + row * D + col] = sum;
}
