// Each warp waits at its own barrier for the other.
extern "C" __global__ void k(int *y) {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory"); // FAULT: deadlock
    else
        asm volatile("bar.sync 2, 64;" ::: "memory");
    y[threadIdx.x] = 1;
}
