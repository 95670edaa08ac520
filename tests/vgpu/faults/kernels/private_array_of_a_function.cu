// A called function writes far below its own private array.
__device__ __noinline__ int scratch(int at) {
    volatile int mine[4];
    for (int i = 0; i < 4; i++) mine[i] = i;
    mine[at] = 5; // FAULT: out_of_bounds
    return mine[1];
}
extern "C" __global__ void k(const int *x, int *y) {
    y[threadIdx.x] = scratch(x[threadIdx.x] * 100000);
}
