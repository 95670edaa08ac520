// launch: grid=(N/32, N/32) block=(32, 32) shared=0
#define SIDE 32
#define DIM 256

extern "C" __global__ void k(const float *P, const float *Q, float *y, int n) {
    __shared__ float p[SIDE][SIDE], q[SIDE][SIDE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.y * SIDE, col0 = blockIdx.x * SIDE;
    float sum = 0.0f;
    for (int d0 = 0; d0 < DIM; d0 += SIDE) {
        p[ty][tx] = P[(row0 + ty) * DIM + d0 + tx];
        q[ty][tx] = Q[(col0 + ty) * DIM + d0 + tx];
        __syncthreads();
        for (int d = 0; d < SIDE; ++d) {
            const float apart = p[ty][d] - q[tx][d];
            sum += apart * apart;
        }
        __syncthreads();
    }
    y[(row0 + ty) * n + col0 + tx] = sum;
}
