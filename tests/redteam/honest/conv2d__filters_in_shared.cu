// launch: grid=(ceil((W - R + 1)/32), ceil((H - R + 1)/8), K) block=(32, 8) shared=4*C*R*R
extern "C" __global__ void conv2d(const float* __restrict__ image, const float* __restrict__ filters, float* __restrict__ out,
                                  int C, int H, int W, int R) {
    extern __shared__ float f[];
    int n = C * R * R, k = blockIdx.z, oh = H - R + 1, ow = W - R + 1;
    for (int e = threadIdx.y * 32 + threadIdx.x; e < n; e += 256) f[e] = filters[k * n + e];
    __syncthreads();
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= ow || y >= oh) return;
    float s = 0;
    for (int c = 0, e = 0; c < C; ++c)
        for (int dy = 0; dy < R; ++dy)
            for (int dx = 0; dx < R; ++dx) s = fmaf(image[(c * H + y + dy) * W + x + dx], f[e++], s);
    out[((size_t)k * oh + y) * ow + x] = s;
}
