// A fence orders one thread's own accesses; it does not wait for anybody.
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int tile[64];
    tile[threadIdx.x] = x[threadIdx.x]; // FAULT: shared_race
    __threadfence_block();
    y[threadIdx.x] = tile[63 - threadIdx.x]; // FAULT: shared_race
}
