extern "C" __global__ void k(int *y) {
    int v = threadIdx.x;
    if (y[threadIdx.x] & 1)
        v = __shfl_xor_sync(~0u, v, 1); // FAULT: warp_sync_divergence
    __syncthreads();
    y[threadIdx.x] = v;
}
