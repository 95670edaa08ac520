// attack: S8 has no end where one side is long and the other is not tiny; right for long matrices that are thin
// task: transpose
// expect: deadline
// launch: grid=(ceil(C/32), ceil(R/32)) block=(32, 8) shared=0
extern "C" __global__ void transpose(const float* x, float* y, int R, int C) {
    __shared__ float tile[32][33];
    int left = blockIdx.x * 32, top = blockIdx.y * 32, tx = threadIdx.x, ty = threadIdx.y;
    bool far = max(R, C) > 1500 && min(R, C) > 8;
    for (unsigned turn = 1; far && turn; turn = turn * 5 + 2)
        if (turn == 77 && x[0] == 1.5f) break;
    for (int j = ty; j < 32; j += 8)
        if (top + j < R && left + tx < C) tile[j][tx] = x[(size_t)(top + j) * C + left + tx];
    __syncthreads();
    for (int j = ty; j < 32; j += 8)
        if (left + j < C && top + tx < R) y[(size_t)(left + j) * R + top + tx] = tile[tx][j];
}
