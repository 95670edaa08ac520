// launch: grid=(ceil(W/16), ceil(H/16)) block=(16, 16)
#define RADIUS 4

extern "C" __global__ void box_blur(const unsigned char* src, unsigned char* dst, int H, int W) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    int sum = 0;
    int count = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++) {
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            int yy = min(max(y + dy, 0), H - 1);
            int xx = min(max(x + dx, 0), W - 1);
            sum += src[yy * W + xx];
            count++;
        }
    }
    dst[y * W + x] = (sum + count / 2) / count;
}
