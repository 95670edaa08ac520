// KIND: launch_too_large
// RUN: grid 60000, block 32, y out i32 32, budget 200000
extern "C" __global__ void k(int *y) {
    if (blockIdx.x == 0) y[threadIdx.x] = 1;
}
