// attack: G2 as G1, with the blocks that have nothing to do at the front of the grid
// task: transpose
// expect: SAME SLOWER no_time interval_too_wide
// launch: grid=(ceil(C/32), ceil(R/8) * 8) block=(32, 8) shared=0
extern "C" __global__ void transpose(const float* x, float* y, int R, int C) {
    int c = blockIdx.x * 32 + threadIdx.x, r = (gridDim.y - 1 - blockIdx.y) * 8 + threadIdx.y;
    if (r < R && c < C) y[(size_t)c * R + r] = x[(size_t)r * C + c];
}
