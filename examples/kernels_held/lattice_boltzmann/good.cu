// launch: grid=(ceil(W/64), ceil(H/4)) block=(64, 4)
// Lanes along x, where cells are neighbours in memory; single precision; directions written out, neighbours by compare.
extern "C" __global__ void lattice_boltzmann(const float* __restrict__ f, float* __restrict__ g, float omega, int H,
                                             int W) {
    int x = blockIdx.x * 64 + threadIdx.x;
    int y = blockIdx.y * 4 + threadIdx.y;
    if (y >= H || x >= W) return;
    int plane = H * W;
    int west = x > 0 ? x - 1 : W - 1, east = x + 1 < W ? x + 1 : 0;
    int row = y * W, north = (y > 0 ? y - 1 : H - 1) * W, south = (y + 1 < H ? y + 1 : 0) * W;
    float f0 = f[row + x];
    float f1 = f[plane + row + west];
    float f2 = f[2 * plane + north + x];
    float f3 = f[3 * plane + row + east];
    float f4 = f[4 * plane + south + x];
    float f5 = f[5 * plane + north + west];
    float f6 = f[6 * plane + north + east];
    float f7 = f[7 * plane + south + east];
    float f8 = f[8 * plane + south + west];
    float rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
    float inverse = 1.0f / rho;
    float ux = (f1 + f5 + f8 - f3 - f6 - f7) * inverse;
    float uy = (f2 + f5 + f6 - f4 - f7 - f8) * inverse;
    float still = 1.0f - 1.5f * (ux * ux + uy * uy);
    float keep = 1.0f - omega;
    auto store = [&](int q, float old, float weight, float cu) {
        g[q * plane + row + x] = keep * old + omega * weight * rho * (still + cu * (3.0f + 4.5f * cu));
    };
    store(0, f0, 4.0f / 9.0f, 0.0f);
    store(1, f1, 1.0f / 9.0f, ux);
    store(2, f2, 1.0f / 9.0f, uy);
    store(3, f3, 1.0f / 9.0f, -ux);
    store(4, f4, 1.0f / 9.0f, -uy);
    store(5, f5, 1.0f / 36.0f, ux + uy);
    store(6, f6, 1.0f / 36.0f, uy - ux);
    store(7, f7, 1.0f / 36.0f, -ux - uy);
    store(8, f8, 1.0f / 36.0f, ux - uy);
}
