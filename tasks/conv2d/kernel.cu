// launch: grid=(ceil((W - R + 1)/16), ceil((H - R + 1)/16), K) block=(16, 16) shared=0
extern "C" __global__ void conv2d(const float* __restrict__ image, const float* __restrict__ filters,
                                  float* __restrict__ out, int C, int H, int W, int R) {
    int out_h = H - R + 1, out_w = W - R + 1;
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z;
    if (x >= out_w || y >= out_h) {
        return;
    }
    float sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        for (int dy = 0; dy < R; ++dy) {
            for (int dx = 0; dx < R; ++dx) {
                sum += image[(c * H + y + dy) * W + x + dx] * filters[((k * C + c) * R + dy) * R + dx];
            }
        }
    }
    out[((size_t)k * out_h + y) * out_w + x] = sum;
}
