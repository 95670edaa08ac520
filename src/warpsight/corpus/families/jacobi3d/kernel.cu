// launch: grid=(ceil(X/64), ceil(Y/4), ceil(Z/8)) block=(64, 4) shared=0
extern "C" __global__ void jacobi3d(const float* __restrict__ u, float* __restrict__ out, int X, int Y, int Z) {
    int x = blockIdx.x * 64 + threadIdx.x;
    int y = blockIdx.y * 4 + threadIdx.y;
    int z0 = blockIdx.z * 8;
    if (x >= X || y >= Y) {
        return;
    }
    size_t plane = (size_t)X * Y;
    size_t at = (size_t)z0 * plane + (size_t)y * X + x;
    float weight = 0.1f;
    float below = z0 > 0 ? u[at - plane] : 0.0f;
    float here = u[at];
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
        if (z0 + k >= Z) {
            break;
        }
        float above = z0 + k + 1 < Z ? u[at + plane] : 0.0f;
        float west = x > 0 ? u[at - 1] : 0.0f;
        float east = x + 1 < X ? u[at + 1] : 0.0f;
        float north = y > 0 ? u[at - X] : 0.0f;
        float south = y + 1 < Y ? u[at + X] : 0.0f;
        out[at] = 0.4f * here + weight * (below + above + west + east + north + south);
        below = here;
        here = above;
        at += plane;
    }
}
