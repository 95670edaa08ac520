extern "C" __global__ void k(int *y) {
    if (threadIdx.x == 0)
        y[0] = blockIdx.x; // FAULT: global_race
}
