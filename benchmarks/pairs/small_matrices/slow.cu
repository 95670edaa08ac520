// launch: grid=(N/1024) block=(1024) shared=0
#define SIDE 8

// 64 registers are left for a thread of such a block; it needs two matrices of 64 elements at once.
extern "C" __global__ void __launch_bounds__(1024) k(const float *x, float *y, int n) {
    const int i = blockIdx.x * 1024 + threadIdx.x;
    float m[SIDE][SIDE], product[SIDE][SIDE];
#pragma unroll
    for (int e = 0; e < SIDE * SIDE; ++e) m[e / SIDE][e % SIDE] = x[e * n + i];
#pragma unroll 1
    for (int r = 0; r < 8; ++r) {
#pragma unroll
        for (int p = 0; p < SIDE; ++p)
#pragma unroll
            for (int q = 0; q < SIDE; ++q) {
                product[p][q] = 0.0f;
#pragma unroll
                for (int j = 0; j < SIDE; ++j) product[p][q] += m[p][j] * m[j][q];
            }
#pragma unroll
        for (int e = 0; e < SIDE * SIDE; ++e) m[e / SIDE][e % SIDE] = 0.25f * product[e / SIDE][e % SIDE];
    }
#pragma unroll
    for (int e = 0; e < SIDE * SIDE; ++e) y[e * n + i] = m[e / SIDE][e % SIDE];
}
