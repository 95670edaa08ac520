// KIND: endless_loop
// RUN: grid 1, block 32, flag rw i32 1 zeros, y out i32 32
extern "C" __global__ void k(volatile int *flag, int *y) {
    int t = threadIdx.x;
    y[t] = 0;
    while (*flag == 0) { // HERE
    }
    y[t] = 1;
}
