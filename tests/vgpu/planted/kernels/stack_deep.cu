// KIND: stack_overflow
// RUN: grid 1, block 32, x in i32 32, y out i32 32
__device__ __noinline__ int depth(const int *x, int n) {
    if (x[0] > 100) return n;
    volatile int keep = n;
    return depth(x, n + 1) + keep; // HERE
}
extern "C" __global__ void k(const int *x, int *y) {
    y[threadIdx.x] = depth(x, threadIdx.x);
}
