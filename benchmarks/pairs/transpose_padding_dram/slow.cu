// launch: grid=(N/32, N/32) block=(32, 8) shared=0
#define SIDE 32

extern "C" __global__ void k(const float *x, float *y, int n) {
    __shared__ float tile[SIDE][SIDE];  // a column of the tile lies in one bank
    const int c = blockIdx.x * SIDE + threadIdx.x, r = blockIdx.y * SIDE + threadIdx.y;
    for (int j = 0; j < SIDE; j += 8) tile[threadIdx.y + j][threadIdx.x] = x[(r + j) * n + c];
    __syncthreads();
    const int tc = blockIdx.y * SIDE + threadIdx.x, tr = blockIdx.x * SIDE + threadIdx.y;
    for (int j = 0; j < SIDE; j += 8) y[(tr + j) * n + tc] = tile[threadIdx.x][threadIdx.y + j];
}
