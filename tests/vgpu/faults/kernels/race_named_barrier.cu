// The pair of warps that exchanges meets at different named barriers.
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int tile[128];
    int warp = threadIdx.x / 32;
    tile[threadIdx.x] = x[threadIdx.x];
    asm volatile("bar.sync %0, 64;" ::"r"(1 + warp / 2) : "memory");
    y[threadIdx.x] = tile[(threadIdx.x + 64) % 128]; // FAULT: shared_race
}
