extern "C" __global__ void k(volatile int *go, int *y) {
    while (*go == 0) { // FAULT: endless_loop
    }
    y[threadIdx.x] = 1;
}
