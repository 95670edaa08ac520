// launch: grid=(ceil(W/32), ceil(H/8)) block=(32, 8) shared=0
extern "C" __global__ void conv2d(const float* __restrict__ x, const float* __restrict__ f, float* __restrict__ y, int H,
                                  int W, int F) {
    __shared__ float tile[12][37];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int col0 = blockIdx.x * 32;
    int row0 = blockIdx.y * 8;
    for (int at = ty * 32 + tx; at < 12 * 36; at += 256) {
        int r = row0 + at / 36 - 2;
        int c = col0 + at % 36 - 2;
        tile[at / 36][at % 36] = r >= 0 && r < H && c >= 0 && c < W ? x[(size_t)r * W + c] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    #pragma unroll
    for (int i = 0; i < 5; ++i) {
        #pragma unroll
        for (int j = 0; j < 5; ++j) {
            sum += f[i * F + j] * tile[ty + i][tx + j];
        }
    }
    if (row0 + ty < H && col0 + tx < W) {
        y[(size_t)(row0 + ty) * W + col0 + tx] = sum;
    }
}
