// A histogram in shared memory without atomics.
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    bins[x[threadIdx.x]] += 1; // FAULT: shared_race
    __syncthreads();
    if (threadIdx.x < 4) y[threadIdx.x] = bins[threadIdx.x];
}
