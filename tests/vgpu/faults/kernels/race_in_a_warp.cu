// A warp-synchronous exchange without __syncwarp.
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int tile[32];
    tile[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = tile[threadIdx.x ^ 1]; // FAULT: shared_race
}
