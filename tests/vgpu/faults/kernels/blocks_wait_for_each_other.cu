extern "C" __global__ void k(volatile int *flag) {
    while (flag[1 - blockIdx.x] == 0) { // FAULT: endless_loop
    }
    flag[blockIdx.x] = 1;
}
