// launch: grid=(ceil(W/32), ceil(H/8)) block=(32, 8)
extern "C" __global__ void stencil2d(const float* __restrict__ u, float* __restrict__ v, float k, int H, int W) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, i = y * W + x;
    if (blockIdx.z + 1 < gridDim.z || x >= W || y >= H) return;
    float centre = u[i];
    bool edge = x == 0 || y == 0 || x == W - 1 || y == H - 1;
    v[i] = edge ? centre : centre + k * (u[i - 1] + u[i + 1] + u[i - W] + u[i + W] - 4.0f * centre);
}
