extern "C" __global__ void k(int *y) {
    if (threadIdx.x % 32 < 16)
        __syncthreads(); // FAULT: barrier_divergence
    y[threadIdx.x] = threadIdx.x;
}
