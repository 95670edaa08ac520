// One element too far: `<=` instead of `<`.
extern "C" __global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        y[i % n] = x[i]; // FAULT: out_of_bounds
}
