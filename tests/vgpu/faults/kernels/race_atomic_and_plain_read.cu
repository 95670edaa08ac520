// The counter is read while other warps may still add to it.
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (x[threadIdx.x] > 3) atomicAdd(&count, 1); // FAULT: shared_race
    y[threadIdx.x] = count; // FAULT: shared_race
}
