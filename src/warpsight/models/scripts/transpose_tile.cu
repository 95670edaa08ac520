// launch: grid=(ceil(C/32), ceil(R/32)) block=(32, 8) shared=0
#define TILE 32
#define ROWS 8

extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    __shared__ float tile[TILE][TILE];
    int c = blockIdx.x * TILE + threadIdx.x;
    int r0 = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) {
        if (r0 + j < R && c < C) {
            tile[threadIdx.y + j][threadIdx.x] = x[(size_t)(r0 + j) * C + c];
        }
    }
    __syncthreads();
    int out_col = blockIdx.y * TILE + threadIdx.x;
    int out_row0 = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) {
        if (out_row0 + j < C && out_col < R) {
            y[(size_t)(out_row0 + j) * R + out_col] = tile[threadIdx.x][threadIdx.y + j];
        }
    }
}
