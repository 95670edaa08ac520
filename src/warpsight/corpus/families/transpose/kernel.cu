// launch: grid=(ceil(C/32), ceil(R/32)) block=(32, 8) shared=0
extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    __shared__ float tile[32][33];
    int col = blockIdx.x * 32 + threadIdx.x;
    int row = blockIdx.y * 32 + threadIdx.y;
    #pragma unroll 4
    for (int j = 0; j < 32; j += blockDim.y) {
        if (row + j < R && col < C) {
            tile[threadIdx.y + j][threadIdx.x] = x[(size_t)(row + j) * C + col];
        }
    }
    __syncthreads();
    col = blockIdx.y * 32 + threadIdx.x;
    row = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += blockDim.y) {
        if (row + j < C && col < R) {
            y[(size_t)(row + j) * R + col] = tile[threadIdx.x][threadIdx.y + j];
        }
    }
}
