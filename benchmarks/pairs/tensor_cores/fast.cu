// launch: grid=(N/64, N/64) block=(128) shared=0
#include <cuda_fp16.h>
#include <mma.h>
#define SIDE 64
#define DEEP 16

// Four warps, each 32 x 32 of the tile, as 2 x 2 matrix operations on tiles in shared memory.
extern "C" __global__ void k(const __half *A, const __half *B, float *C, int n) {
    using namespace nvcuda::wmma;
    __shared__ __align__(32) __half a[SIDE][DEEP + 8], b[DEEP][SIDE + 8];
    const int t = threadIdx.x, wr = t / 64 * 32, wc = t / 32 % 2 * 32;
    const int col0 = blockIdx.x * SIDE, row0 = blockIdx.y * SIDE;
    fragment<accumulator, 16, 16, 16, float> sums[2][2];
    for (int p = 0; p < 2; ++p)
        for (int q = 0; q < 2; ++q) fill_fragment(sums[p][q], 0.0f);
    for (int i0 = 0; i0 < n; i0 += DEEP) {
        for (int e = t; e < SIDE * DEEP; e += 128) {
            a[e / DEEP][e % DEEP] = A[(row0 + e / DEEP) * n + i0 + e % DEEP];
            b[e / SIDE][e % SIDE] = B[(i0 + e / SIDE) * n + col0 + e % SIDE];
        }
        __syncthreads();
        fragment<matrix_a, 16, 16, 16, __half, row_major> fa[2];
        fragment<matrix_b, 16, 16, 16, __half, row_major> fb[2];
        for (int p = 0; p < 2; ++p) {
            load_matrix_sync(fa[p], &a[wr + p * 16][0], DEEP + 8);
            load_matrix_sync(fb[p], &b[0][wc + p * 16], SIDE + 8);
        }
        for (int p = 0; p < 2; ++p)
            for (int q = 0; q < 2; ++q) mma_sync(sums[p][q], fa[p], fb[q], sums[p][q]);
        __syncthreads();
    }
    for (int p = 0; p < 2; ++p)
        for (int q = 0; q < 2; ++q)
            store_matrix_sync(&C[(row0 + wr + p * 16) * n + col0 + wc + q * 16], sums[p][q], n, mem_row_major);
}
