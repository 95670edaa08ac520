extern "C" __global__ void k(const float *x, float4 *y) {
    y[threadIdx.x] = *(const float4 *)(x + 4 * threadIdx.x + 1); // FAULT: misaligned
}
