extern "C" __global__ void k(const int *x, int *y) {
    if (x[threadIdx.x] > 40)
        __trap(); // FAULT: trap
    y[threadIdx.x] = 1;
}
