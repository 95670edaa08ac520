// launch: grid=(ceil(W/16), ceil(H/16)) block=(16, 16)
extern "C" __global__ void game_of_life(const unsigned char* now, unsigned char* next, int H, int W) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    int around = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            if (dx != 0 || dy != 0) {
                around += now[((y + dy + H) % H) * W + (x + dx + W) % W];
            }
        }
    }
    if (now[y * W + x]) {
        next[y * W + x] = (around == 2 || around == 3) ? 1 : 0;
    } else {
        next[y * W + x] = around == 3 ? 1 : 0;
    }
}
