// The host forgot to allocate.
extern "C" __global__ void k(int *y) {
    y[threadIdx.x] = 1; // FAULT: out_of_bounds
}
