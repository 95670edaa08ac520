// launch: grid=(ceil(C/32), min(ceil(R/64), 64)) block=(32, 8) shared=0
extern "C" __global__ void column_sum(const float* __restrict__ x, float* __restrict__ sums, int R, int C) {
    __shared__ float part[8][33];
    int col = blockIdx.x * 32 + threadIdx.x;
    float acc = 0.0f;
    if (col < C) {
        #pragma unroll 4
        for (int r = blockIdx.y * 8 + threadIdx.y; r < R; r += gridDim.y * 8) {
            acc += x[(size_t)r * C + col];
        }
    }
    part[threadIdx.y][threadIdx.x] = acc;
    __syncthreads();
    if (threadIdx.y == 0 && col < C) {
        for (int k = 1; k < 8; ++k) {
            acc += part[k][threadIdx.x];
        }
        atomicAdd(&sums[col], acc);
    }
}
