extern "C" __global__ void k(float *x, float *y) {
    float v = x[threadIdx.x];
    y[threadIdx.x] = v;
    if (threadIdx.x == 5)
        x[threadIdx.x] = v + 1.0f; // FAULT: write_to_const
}
