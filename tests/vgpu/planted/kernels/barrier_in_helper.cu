// KIND: barrier_divergence
// RUN: grid 1, block 64, x in i32 64, y out i32 64
__device__ __noinline__ int meet(int v) {
    __syncthreads(); // HERE
    return v + 1;
}
extern "C" __global__ void k(const int *x, int *y) {
    int v = x[threadIdx.x];
    if (v % 3 == 0) v = meet(v);
    y[threadIdx.x] = v;
}
