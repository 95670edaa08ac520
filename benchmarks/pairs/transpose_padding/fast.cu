// launch: grid=(N/32, N/32) block=(32, 8) shared=0
// Each tile is turned an odd number of times: shared memory has more to do than DRAM.
#define SIDE 32

extern "C" __global__ void k(const float *x, float *y, int n, int rounds) {
    __shared__ float tile[SIDE][SIDE + 1];
    const int c = blockIdx.x * SIDE + threadIdx.x, r = blockIdx.y * SIDE + threadIdx.y;
    float v[4];
    for (int j = 0; j < 4; ++j) v[j] = x[(r + 8 * j) * n + c];
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        for (int j = 0; j < 4; ++j) tile[threadIdx.y + 8 * j][threadIdx.x] = v[j];
        __syncthreads();
        for (int j = 0; j < 4; ++j) v[j] = tile[threadIdx.x][threadIdx.y + 8 * j];
        __syncthreads();
    }
    const int tc = blockIdx.y * SIDE + threadIdx.x, tr = blockIdx.x * SIDE + threadIdx.y;
    for (int j = 0; j < 4; ++j) y[(tr + 8 * j) * n + tc] = v[j];
}
