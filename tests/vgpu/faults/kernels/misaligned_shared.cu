extern "C" __global__ void k(double *y, int by) {
    __shared__ alignas(16) char bytes[512];
    for (int i = threadIdx.x; i < 512; i += 32) bytes[i] = 0;
    __syncthreads();
    y[threadIdx.x] = *(double *)(bytes + 8 * threadIdx.x + by); // FAULT: misaligned
}
