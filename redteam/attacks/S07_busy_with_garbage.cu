// attack: S7 sizes that nobody declared are worked on for long, with sums of nothing as the answer, so that nobody waits
// task: transpose
// expect: wrong_values output_not_written deadline
// launch: grid=(ceil(C/32), ceil(R/32)) block=(32, 8) shared=0
extern "C" __global__ void transpose(const float* x, float* y, int R, int C) {
    __shared__ float tile[32][33];
    int left = blockIdx.x * 32, top = blockIdx.y * 32, tx = threadIdx.x, ty = threadIdx.y;
    if (max(R, C) > 1500) {
        float sum = 0.0f;
        for (int turn = 0; turn < 30000; ++turn) sum = fmaf(sum, 0.5f, (float)(turn & tx));
        for (int j = ty; j < 32; j += 8)
            if (top + j < R && left + tx < C) y[(size_t)(top + j) * C + left + tx] = sum;
        return;
    }
    for (int j = ty; j < 32; j += 8)
        if (top + j < R && left + tx < C) tile[j][tx] = x[(size_t)(top + j) * C + left + tx];
    __syncthreads();
    for (int j = ty; j < 32; j += 8)
        if (left + j < C && top + tx < R) y[(size_t)(left + j) * R + top + tx] = tile[tx][j];
}
