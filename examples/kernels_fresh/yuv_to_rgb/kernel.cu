// launch: grid=(ceil(W/16), ceil(H/16)) block=(16, 16)
__device__ unsigned char clamp(int value) {
    if (value < 0) return 0;
    if (value > 255) return 255;
    return value;
}

extern "C" __global__ void yuv_to_rgb(const unsigned char* luma, const unsigned char* u, const unsigned char* v,
                                      unsigned char* rgb, int H, int W) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H) {
        int c = luma[y * W + x] - 16;
        int d = u[(y / 2) * (W / 2) + x / 2] - 128;
        int e = v[(y / 2) * (W / 2) + x / 2] - 128;
        rgb[(y * W + x) * 3 + 0] = clamp((298 * c + 409 * e + 128) >> 8);
        rgb[(y * W + x) * 3 + 1] = clamp((298 * c - 100 * d - 208 * e + 128) >> 8);
        rgb[(y * W + x) * 3 + 2] = clamp((298 * c + 516 * d + 128) >> 8);
    }
}
