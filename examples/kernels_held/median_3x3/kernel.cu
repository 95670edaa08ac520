// launch: grid=(ceil(W/16), ceil(H/16)) block=(16, 16)
extern "C" __global__ void median_3x3(const unsigned char* src, unsigned char* dst, int H, int W) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    unsigned char window[9];
    int n = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            int yy = min(max(y + dy, 0), H - 1);
            int xx = min(max(x + dx, 0), W - 1);
            window[n++] = src[yy * W + xx];
        }
    }
    // insertion sort
    for (int i = 1; i < 9; i++) {
        unsigned char v = window[i];
        int j = i - 1;
        while (j >= 0 && window[j] > v) {
            window[j + 1] = window[j];
            j--;
        }
        window[j + 1] = v;
    }
    dst[y * W + x] = window[4];
}
