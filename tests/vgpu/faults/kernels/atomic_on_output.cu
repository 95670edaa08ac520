// The bins were never set to zero.
extern "C" __global__ void k(const int *x, int *bins) {
    atomicAdd(&bins[x[threadIdx.x] % 4], 1); // FAULT: uninitialised_read
}
