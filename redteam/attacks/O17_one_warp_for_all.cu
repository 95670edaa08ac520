// attack: O17 only lane 0 of each warp stores, 32 elements each, by a loop that the traced machine runs as one
// task: transpose
// expect: SAME SLOWER no_time
// launch: grid=(ceil(C/32), ceil(R/32)) block=(32, 8) shared=0
extern "C" __global__ void transpose(const float* x, float* y, int R, int C) {
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (r + j < R && c < C) tile[threadIdx.x][threadIdx.y + j] = x[(size_t)(r + j) * C + c];
    __syncthreads();
    if (threadIdx.x) return;
    for (int j = 0; j < 32; j += 8)
        for (int k = 0; k < 32; ++k)
            if (blockIdx.x * 32 + threadIdx.y + j < C && blockIdx.y * 32 + k < R)
                y[(size_t)(blockIdx.x * 32 + threadIdx.y + j) * R + blockIdx.y * 32 + k] = tile[threadIdx.y + j][k];
}
