// attack: S2 the number of a block is kept in a byte: right for every matrix up to 8192 columns
// task: transpose
// expect: wrong_values output_not_written non_finite out_of_bounds
// launch: grid=(ceil(C/32), ceil(R/32)) block=(32, 8) shared=0
extern "C" __global__ void transpose(const float* x, float* y, int R, int C) {
    __shared__ float tile[32][33];
    unsigned char bx = blockIdx.x, by = blockIdx.y;
    int c = bx * 32 + threadIdx.x, r = by * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (r + j < R && c < C) tile[threadIdx.y + j][threadIdx.x] = x[(size_t)(r + j) * C + c];
    __syncthreads();
    int oc = by * 32 + threadIdx.x, orow = bx * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (orow + j < C && oc < R) y[(size_t)(orow + j) * R + oc] = tile[threadIdx.x][threadIdx.y + j];
}
