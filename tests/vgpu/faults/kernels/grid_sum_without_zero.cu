// Block 0 clears the sum, the others may have added already.
extern "C" __global__ void k(const int *x, int *sum) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *sum = 0;
    __syncthreads();
    atomicAdd(sum, x[blockIdx.x * 32 + threadIdx.x]); // FAULT: global_race
}
