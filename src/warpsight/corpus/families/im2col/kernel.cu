// launch: grid=(ceil(W/128), H, C) block=(128) shared=0
extern "C" __global__ void im2col(const float* __restrict__ x, float* __restrict__ cols, int H, int W) {
    int col = blockIdx.x * 128 + threadIdx.x;
    int row = blockIdx.y;
    if (col >= W || row >= H) {
        return;
    }
    size_t area = (size_t)H * W;
    const float* in = x + blockIdx.z * area;
    float* to = cols + blockIdx.z * 9 * area + (size_t)row * W + col;
    float scale = 1.0f;
    #pragma unroll
    for (int tap = 0; tap < 9; ++tap) {
        int r = row + tap / 3 - 1;
        int c = col + tap % 3 - 1;
        bool inside = r >= 0 && r < H && c >= 0 && c < W;
        to[tap * area] = inside ? scale * in[(size_t)r * W + c] : 0.0f;
    }
}
