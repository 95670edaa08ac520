// `+=` on an output that nothing has set.
extern "C" __global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += x[i]; // FAULT: uninitialised_read
}
