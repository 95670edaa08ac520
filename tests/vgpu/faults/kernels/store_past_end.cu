// No guard at all for the last block.
extern "C" __global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    y[i] = v; // FAULT: out_of_bounds
}
