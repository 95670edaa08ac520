// Two lanes of one store put different values in one word.
extern "C" __global__ void k(int *y) {
    __shared__ int bins[16];
    bins[threadIdx.x / 2] = threadIdx.x; // FAULT: shared_race
    __syncthreads();
    y[threadIdx.x] = bins[threadIdx.x / 2];
}
