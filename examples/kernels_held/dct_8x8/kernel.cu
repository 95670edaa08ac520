// launch: grid=(W/8, H/8) block=(8, 8)
#define PI 3.14159265f

extern "C" __global__ void dct_8x8(const float* image, float* out, int H, int W) {
    int u = threadIdx.x, v = threadIdx.y;
    int x0 = blockIdx.x * 8, y0 = blockIdx.y * 8;
    float sum = 0.0f;
    for (int y = 0; y < 8; y++) {
        for (int x = 0; x < 8; x++) {
            sum += image[(y0 + y) * W + x0 + x] * cosf((2 * x + 1) * u * PI / 16) * cosf((2 * y + 1) * v * PI / 16);
        }
    }
    float cu = u == 0 ? sqrtf(1.0f / 8) : 0.5f;
    float cv = v == 0 ? sqrtf(1.0f / 8) : 0.5f;
    out[(y0 + v) * W + x0 + u] = cu * cv * sum;
}
