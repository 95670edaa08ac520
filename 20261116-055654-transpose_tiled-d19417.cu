// launch: grid=(ceil(C / 16), ceil(R / 16)) block=(16, 8) shared=0
#define TILE 16
#define ROWS 8

extern "C" __global__ void transpose_tiled(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    __shared__ float tile[TILE][TILE];
    int c = blockIdx.x * TILE + threadIdx.x;
    int r0 = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) {
        int r = r0 + j;
        if (r < R && c < C) {
            tile[threadIdx.y + j][threadIdx.x] = x[(size_t)r * C + c];
        }
    }
    __syncthreads();
    // The tile is read by columns, so that neighbouring threads write neighbouring elements of y.
    int out_col = blockIdx.y * TILE + threadIdx.x;
    int out_row0 = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) {
        int out_row = out_row0 + j;
        if (out_row < C && out_col < R) {
            y[(size_t)out_row * R + out_col] = tile[threadIdx.x][threadIdx.y + j];
        }
    }
}
