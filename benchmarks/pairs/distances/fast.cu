// launch: grid=(N/64, N/64) block=(16, 16) shared=0
#define SIDE 64
#define DEEP 16
#define DIM 256

// Each thread has a patch of 4 x 4 distances: eight values from shared memory serve sixteen of them.
extern "C" __global__ void k(const float *P, const float *Q, float *y, int n) {
    __shared__ __align__(16) float p[DEEP][SIDE + 4], q[DEEP][SIDE + 4];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx, row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
    float sums[4][4] = {};
    for (int d0 = 0; d0 < DIM; d0 += DEEP) {
        for (int e = t; e < SIDE * DEEP; e += 256) {
            p[e % DEEP][e / DEEP] = P[(row0 + e / DEEP) * DIM + d0 + e % DEEP];
            q[e % DEEP][e / DEEP] = Q[(col0 + e / DEEP) * DIM + d0 + e % DEEP];
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEEP; ++d) {
            const float4 pv = *(const float4 *)&p[d][ty * 4], qv = *(const float4 *)&q[d][tx * 4];
            const float ps[4] = {pv.x, pv.y, pv.z, pv.w}, qs[4] = {qv.x, qv.y, qv.z, qv.w};
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) sums[i][j] += (ps[i] - qs[j]) * (ps[i] - qs[j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        *(float4 *)&y[(row0 + ty * 4 + i) * n + col0 + tx * 4] =
            make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
}
