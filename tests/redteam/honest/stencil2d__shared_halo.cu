// launch: grid=(ceil(W/32), ceil(H/8)) block=(32, 8) shared=0
extern "C" __global__ void stencil2d(const float* __restrict__ u, float* __restrict__ v, float k, int H, int W) {
    __shared__ float t[10][34];
    int x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 8 - 1;
    for (int e = threadIdx.y * 32 + threadIdx.x; e < 340; e += 256) {
        int x = x0 + e % 34, y = y0 + e / 34;
        t[e / 34][e % 34] = x >= 0 && y >= 0 && x < W && y < H ? u[y * W + x] : 0.0f;
    }
    __syncthreads();
    int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y, i = threadIdx.y + 1, j = threadIdx.x + 1;
    if (x >= W || y >= H) return;
    bool edge = x == 0 || y == 0 || x == W - 1 || y == H - 1;
    float c = t[i][j];
    v[y * W + x] = edge ? c : c + k * (t[i][j - 1] + t[i][j + 1] + t[i - 1][j] + t[i + 1][j] - 4.0f * c);
}
