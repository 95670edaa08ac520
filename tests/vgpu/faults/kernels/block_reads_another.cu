// An in-place stencil: the halo belongs to the block before.
extern "C" __global__ void k(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = 2.0f * i;
    __syncthreads();
    if (blockIdx.x > 0 && threadIdx.x == 0)
        x[i] = x[i - 1]; // FAULT: global_race
}
