// The tile's last element is never filled.
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int tile[33];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x + 1]; // FAULT: uninitialised_read
}
