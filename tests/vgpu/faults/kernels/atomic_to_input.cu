extern "C" __global__ void k(int *x, int *y) {
    y[threadIdx.x] = x[threadIdx.x];
    atomicAdd(&x[threadIdx.x], 1); // FAULT: write_to_const
}
