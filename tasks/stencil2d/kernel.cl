// launch: grid=(ceil(W/32), ceil(H/8)) block=(32, 8) shared=0
__kernel void stencil2d(__global const float* restrict u, __global float* restrict v, float k, int H, int W) {
    int x = get_global_id(0);
    int y = get_global_id(1);
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
