// launch: grid=(N/64, N/64) block=(16, 16) shared=0
#define SIDE 64
#define DEEP 16

// Each thread has a patch of 4 x 4 results; two vectors from shared memory serve sixteen multiply-adds.
extern "C" __global__ void k(const float *x, float *y, int n) {
    __shared__ float4 a[DEEP][SIDE / 4], b[DEEP][SIDE / 4];
    const int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
    float sums[4][4] = {};
    for (int i0 = 0; i0 < n; i0 += DEEP) {
        a[ty][tx] = *(const float4 *)&x[(i0 + ty) * n + row0 + tx * 4];
        b[ty][tx] = *(const float4 *)&x[(i0 + ty) * n + col0 + tx * 4];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < DEEP; ++i) {
            const float4 av = a[i][ty], bv = b[i][tx];
            const float as[4] = {av.x, av.y, av.z, av.w}, bs[4] = {bv.x, bv.y, bv.z, bv.w};
#pragma unroll
            for (int p = 0; p < 4; ++p)
#pragma unroll
                for (int q = 0; q < 4; ++q) sums[p][q] += as[p] * bs[q];
        }
        __syncthreads();
    }
    for (int p = 0; p < 4; ++p)
        *(float4 *)&y[(row0 + ty * 4 + p) * n + col0 + tx * 4] =
            make_float4(sums[p][0], sums[p][1], sums[p][2], sums[p][3]);
}
