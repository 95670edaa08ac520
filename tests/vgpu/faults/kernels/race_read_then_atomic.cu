// One warp reads the counter, another adds to it: which comes first is open.
extern "C" __global__ void k(int *y) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 5;
    __syncthreads();
    if (threadIdx.x < 32)
        y[threadIdx.x] = count;
    else
        atomicAdd(&count, 1); // FAULT: shared_race
}
