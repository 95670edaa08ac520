// launch: grid=(ceil(C/32), ceil(R/32)) block=(32, 8) shared=0
extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (c < C && r + k < R) tile[threadIdx.y + k][threadIdx.x] = x[(size_t)(r + k) * C + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (c < R && r + k < C) y[(size_t)(r + k) * R + c] = tile[threadIdx.x][threadIdx.y + k];
}
