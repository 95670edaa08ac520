// A stencil without its left edge.
extern "C" __global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i - 1]; // FAULT: out_of_bounds
}
