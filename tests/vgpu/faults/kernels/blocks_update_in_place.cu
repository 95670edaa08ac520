// A stencil in place over the whole grid; the halo of each block is another block's output.
extern "C" __global__ void k(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float left = i > 0 ? x[i - 1] : 0.0f; // FAULT: global_race
    float right = i + 1 < n ? x[i + 1] : 0.0f;
    __syncthreads();
    x[i] = left + right + 1.0f; // FAULT: global_race
}
