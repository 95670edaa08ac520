// launch: grid=(ceil(W/2/16), ceil(H/2/16), N) block=(16, 16)
extern "C" __global__ void max_pool(const float* x, float* y, int N, int H, int W, int C) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    int h = blockIdx.y * blockDim.y + threadIdx.y;
    int n = blockIdx.z;
    if (w >= W / 2 || h >= H / 2) return;
    for (int c = 0; c < C; c++) {
        float top = -INFINITY;
        for (int dy = 0; dy < 2; dy++) {
            for (int dx = 0; dx < 2; dx++) {
                top = fmaxf(top, x[((n * H + h * 2 + dy) * W + w * 2 + dx) * C + c]);
            }
        }
        y[((n * (H / 2) + h) * (W / 2) + w) * C + c] = top;
    }
}
