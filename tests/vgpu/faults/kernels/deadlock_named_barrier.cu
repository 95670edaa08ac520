extern "C" __global__ void k(int *y) {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory"); // FAULT: deadlock
    y[threadIdx.x] = 1;
}
