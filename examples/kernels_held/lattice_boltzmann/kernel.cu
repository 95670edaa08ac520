// launch: grid=(ceil(H/16), ceil(W/16)) block=(16, 16)
extern "C" __global__ void lattice_boltzmann(const float* f, float* g, float omega, int H, int W) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    int x = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= H || x >= W) return;
    int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
    int cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    float w[9] = {4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36};
    float here[9];
    float rho = 0, ux = 0, uy = 0;
    for (int q = 0; q < 9; q++) {
        int xs = (x - cx[q] + W) % W;
        int ys = (y - cy[q] + H) % H;
        here[q] = f[(q * H + ys) * W + xs];
        rho += here[q];
        ux += cx[q] * here[q];
        uy += cy[q] * here[q];
    }
    ux /= rho;
    uy /= rho;
    for (int q = 0; q < 9; q++) {
        float cu = cx[q] * ux + cy[q] * uy;
        float eq = w[q] * rho * (1.0 + 3.0 * cu + 4.5 * pow(cu, 2) - 1.5 * (pow(ux, 2) + pow(uy, 2)));
        g[(q * H + y) * W + x] = here[q] + omega * (eq - here[q]);
    }
}
