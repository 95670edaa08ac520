// The block before has read the element that this one replaces.
extern "C" __global__ void k(float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[(i + 32) % 64]; // FAULT: global_race
    __syncthreads();
    x[i] = 3.0f * i + 1.0f; // FAULT: global_race
}
