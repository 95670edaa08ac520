// launch: grid=(ceil(W/32), ceil(H/8)) block=(32, 8) shared=0
extern "C" __global__ void sobel(const float* __restrict__ x, float* __restrict__ y, int H, int W) {
    __shared__ float tile[10][34];
    int left = blockIdx.x * 32 - 1;
    int top = blockIdx.y * 8 - 1;
    for (int r = threadIdx.y; r < 10; r += 8) {
        for (int c = threadIdx.x; c < 34; c += 32) {
            bool inside = top + r >= 0 && top + r < H && left + c >= 0 && left + c < W;
            tile[r][c] = inside ? x[(size_t)(top + r) * W + left + c] : 0.0f;
        }
    }
    __syncthreads();
    int col = left + 1 + threadIdx.x;
    int row = top + 1 + threadIdx.y;
    float across = 0.0f;
    float down = 0.0f;
    #pragma unroll
    for (int k = 0; k < 3; ++k) {
        float weight = k == 1 ? 2.0f : 1.0f;
        across += weight * (tile[threadIdx.y + k][threadIdx.x + 2] - tile[threadIdx.y + k][threadIdx.x]);
        down += weight * (tile[threadIdx.y + 2][threadIdx.x + k] - tile[threadIdx.y][threadIdx.x + k]);
    }
    if (row < H && col < W) {
        y[(size_t)row * W + col] = sqrtf(across * across + down * down);
    }
}
