__device__ __noinline__ int down(int n, const int *x) {
    if (x[0] == 12345) return n;
    return down(n + 1, x) + x[n & 1]; // FAULT: stack_overflow
}
extern "C" __global__ void k(const int *x, int *y) {
    y[threadIdx.x] = down(threadIdx.x, x);
}
