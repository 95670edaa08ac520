// launch: grid=(ceil(P*C*H*W/256)) block=(256)
extern "C" __global__ void depthwise_conv(const float* x, const float* w, float* y, int P, int C, int H, int W) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= P * C * H * W) return;
    int col = i % W;
    int row = (i / W) % H;
    int c = (i / (W * H)) % C;
    int p = i / (W * H * C);
    float sum = 0.0f;
    for (int dy = -3; dy <= 3; dy++) {
        for (int dx = -3; dx <= 3; dx++) {
            int yy = row + dy;
            int xx = col + dx;
            if (yy >= 0 && yy < H && xx >= 0 && xx < W) {
                sum += w[c * 49 + (dy + 3) * 7 + dx + 3] * x[((p * C + c) * H + yy) * W + xx];
            }
        }
    }
    y[i] = sum;
}
