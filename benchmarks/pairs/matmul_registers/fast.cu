// launch: grid=(N/64, N/64) block=(16, 16) shared=0
#define SIDE 64
#define DEEP 16
#define EACH 4

extern "C" __global__ void k(const float *A, const float *B, float *C, int n) {
    // a is transposed; its rows stay aligned to 16 bytes, which not every compiler sees by itself
    __shared__ __align__(16) float a[DEEP][SIDE + 4], b[DEEP][SIDE];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    const int col0 = blockIdx.x * SIDE, row0 = blockIdx.y * SIDE;
    float sums[EACH][EACH] = {};
    for (int i0 = 0; i0 < n; i0 += DEEP) {
        for (int e = t; e < SIDE * DEEP; e += 256) {
            a[e % DEEP][e / DEEP] = A[(row0 + e / DEEP) * n + i0 + e % DEEP];
            b[e / SIDE][e % SIDE] = B[(i0 + e / SIDE) * n + col0 + e % SIDE];
        }
        __syncthreads();
        for (int i = 0; i < DEEP; ++i)
            for (int p = 0; p < EACH; ++p)
                for (int q = 0; q < EACH; ++q) sums[p][q] += a[i][ty * EACH + p] * b[i][tx * EACH + q];
        __syncthreads();
    }
    for (int p = 0; p < EACH; ++p)
        for (int q = 0; q < EACH; ++q) C[(row0 + ty * EACH + p) * n + col0 + tx * EACH + q] = sums[p][q];
}
