extern "C" __global__ void k(const int *x, int *y) {
    int v = x[blockIdx.x * 32 + threadIdx.x];
    assert(v < 40); // FAULT: assert_failed
    y[blockIdx.x * 32 + threadIdx.x] = v;
}
