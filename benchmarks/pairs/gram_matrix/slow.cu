// launch: grid=(N/16, N/16) block=(16, 16) shared=0
#define SIDE 16

// y = transposed x times x: both operands are columns of x, so both tiles are filled along its rows.
extern "C" __global__ void k(const float *x, float *y, int n) {
    __shared__ float a[SIDE][SIDE], b[SIDE][SIDE];
    const int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
    float sum = 0.0f;
    for (int i0 = 0; i0 < n; i0 += SIDE) {
        a[ty][tx] = x[(i0 + ty) * n + row0 + tx];
        b[ty][tx] = x[(i0 + ty) * n + col0 + tx];
        __syncthreads();
        for (int i = 0; i < SIDE; ++i) sum += a[i][ty] * b[i][tx];
        __syncthreads();
    }
    y[(row0 + ty) * n + col0 + tx] = sum;
}
