// KIND: deadlock
// RUN: grid 1, block 96, y out i32 96
extern "C" __global__ void k(int *y) {
    if (threadIdx.x >= 64)
        asm volatile("bar.sync 2, 64;" ::: "memory"); // HERE
    y[threadIdx.x] = 1;
}
