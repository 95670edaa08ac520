// launch: grid=(ceil(H/8)) block=(8) shared=0
__kernel void stencil2d(__global const float* restrict u, __global float* restrict v, float k, int H, int W) {
    int y = get_global_id(0);
    if (y >= H) return;
    for (int x = 0; x < W; ++x) {
        int i = y * W + x;
        bool edge = x == 0 || y == 0 || x == W - 1 || y == H - 1;
        v[i] = edge ? u[i] : u[i] + k * (u[i - 1] + u[i + 1] + u[i - W] + u[i + W] - 4.0f * u[i]);
    }
}
