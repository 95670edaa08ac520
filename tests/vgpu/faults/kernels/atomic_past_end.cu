extern "C" __global__ void k(const int *x, int *bins) {
    atomicAdd(&bins[x[threadIdx.x]], 1); // FAULT: out_of_bounds
}
