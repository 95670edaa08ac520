// Reverse through shared memory without the barrier.
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int tile[64];
    tile[threadIdx.x] = x[threadIdx.x]; // FAULT: shared_race
    y[threadIdx.x] = tile[63 - threadIdx.x]; // FAULT: shared_race
}
