// launch: grid=(N/64, N/64) block=(128) shared=0
#include <cuda_fp16.h>
#define SIDE 64
#define DEEP 16

// Each thread makes 8 x 4 elements of a 64 x 64 tile with ordinary multiply-adds.
extern "C" __global__ void k(const __half *A, const __half *B, float *C, int n) {
    __shared__ __half a[DEEP][SIDE + 2], b[DEEP][SIDE];
    const int t = threadIdx.x, tx = t % 16, ty = t / 16;
    const int col0 = blockIdx.x * SIDE, row0 = blockIdx.y * SIDE;
    float sums[8][4] = {};
    for (int i0 = 0; i0 < n; i0 += DEEP) {
        for (int e = t; e < SIDE * DEEP; e += 128) {
            a[e % DEEP][e / DEEP] = A[(row0 + e / DEEP) * n + i0 + e % DEEP];
            b[e / SIDE][e % SIDE] = B[(i0 + e / SIDE) * n + col0 + e % SIDE];
        }
        __syncthreads();
        for (int i = 0; i < DEEP; ++i)
            for (int p = 0; p < 8; ++p)
                for (int q = 0; q < 4; ++q)
                    sums[p][q] += __half2float(a[i][ty * 8 + p]) * __half2float(b[i][tx * 4 + q]);
        __syncthreads();
    }
    for (int p = 0; p < 8; ++p)
        for (int q = 0; q < 4; ++q) C[(row0 + ty * 8 + p) * n + col0 + tx * 4 + q] = sums[p][q];
}
