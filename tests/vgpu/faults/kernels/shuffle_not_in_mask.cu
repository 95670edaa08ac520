extern "C" __global__ void k(int *y, unsigned mask) {
    y[threadIdx.x] = __shfl_sync(mask, threadIdx.x, 0); // FAULT: warp_sync_divergence
}
