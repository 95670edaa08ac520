// launch: grid=(ceil(W/32), ceil(H/8)) block=(32, 8) shared=0
extern "C" __global__ void stencil2d(const float* __restrict__ u, float* __restrict__ v, float k, int H, int W) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) {
        return;
    }
    int i = y * W + x;
    float centre = u[i];
    if (x == 0 || y == 0 || x == W - 1 || y == H - 1) {
        v[i] = centre;
        return;
    }
    v[i] = centre + k * (u[i - 1] + u[i + 1] + u[i - W] + u[i + W] - 4.0f * centre);
}
