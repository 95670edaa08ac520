extern "C" __global__ void k(const int *x, int *y) {
    if (x[threadIdx.x] % 2) {
        y[threadIdx.x] = 1;
        __syncwarp(); // FAULT: warp_sync_divergence
    } else {
        y[threadIdx.x] = 0;
        __syncthreads();
    }
}
