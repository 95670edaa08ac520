// launch: grid=(ceil(C/32), min(ceil(R/128), 64)) block=(32, 8)
// Rows are shared out over blocks and over the warps of a block; a block adds one number for each of its columns.
#define WARPS 8

extern "C" __global__ void column_means(const float* __restrict__ table, float* mean, int R, int C) {
    __shared__ float partial[WARPS][32];
    int c = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    if (c < C) {
#pragma unroll 8
        for (int r = blockIdx.y * WARPS + threadIdx.y; r < R; r += gridDim.y * WARPS) sum += table[(size_t)r * C + c];
    }
    partial[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && c < C) {
        for (int w = 1; w < WARPS; ++w) sum += partial[w][threadIdx.x];
        atomicAdd(&mean[c], sum / R);
    }
}
