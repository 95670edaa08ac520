// launch: grid=(ceil(W/16), ceil(H/16)) block=(16, 16)
extern "C" __global__ void bilateral(const float* src, float* dst, int H, int W, float sigma_space,
                                     float sigma_range) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    float sum = 0.0f, weights = 0.0f;
    for (int dy = -3; dy <= 3; dy++) {
        for (int dx = -3; dx <= 3; dx++) {
            int yy = min(max(y + dy, 0), H - 1);
            int xx = min(max(x + dx, 0), W - 1);
            float distance = sqrtf(dx * dx + dy * dy);
            float difference = src[yy * W + xx] - src[y * W + x];
            float space = expf(-(distance * distance) / (2.0f * sigma_space * sigma_space));
            float range = expf(-(difference * difference) / (2.0f * sigma_range * sigma_range));
            sum += space * range * src[yy * W + xx];
            weights += space * range;
        }
    }
    dst[y * W + x] = sum / weights;
}
