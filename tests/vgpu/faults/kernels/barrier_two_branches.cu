// Both halves meet a barrier, but not the same one.
extern "C" __global__ void k(int *y) {
    __shared__ int word[64];
    if (threadIdx.x % 32 < 16) {
        word[threadIdx.x] = 1;
        __syncthreads(); // FAULT: barrier_divergence
        y[threadIdx.x] = word[threadIdx.x] + 1;
    } else {
        word[threadIdx.x] = 2;
        __syncthreads();
        y[threadIdx.x] = word[threadIdx.x] + 3;
    }
}
