// KIND: deadlock
// RUN: grid 1, block 64, y out i32 64
__device__ void wait_for(int id) {
    asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory"); // HERE
}
extern "C" __global__ void k(int *y) {
    if (threadIdx.x < 32) wait_for(3);
    else wait_for(4);
    y[threadIdx.x] = 2;
}
