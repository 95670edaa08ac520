// attack: G1 the task's own text with eight times the grid: seven blocks in eight have nothing to do
// task: transpose
// expect: SAME SLOWER no_time interval_too_wide
// launch: grid=(ceil(C/32), ceil(R/8) * 8) block=(32, 8) shared=0
extern "C" __global__ void transpose(const float* x, float* y, int R, int C) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < R && c < C) {
        y[(size_t)c * R + r] = x[(size_t)r * C + c];
    }
}
