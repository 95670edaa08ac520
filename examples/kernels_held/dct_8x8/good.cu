// launch: grid=(ceil(W/128), H/8) block=(128)
// Sixteen 8 x 8 blocks side by side, a thread for each of their rows, then for each of their columns. The cosines are
// constants, so they end up in the instructions; the turn between both passes goes through shared memory.
__device__ constexpr float BASIS[8][8] = {
    {0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f},
    {0.490392640f, 0.415734806f, 0.277785117f, 0.097545161f, -0.097545161f, -0.277785117f, -0.415734806f, -0.490392640f},
    {0.461939766f, 0.191341716f, -0.191341716f, -0.461939766f, -0.461939766f, -0.191341716f, 0.191341716f, 0.461939766f},
    {0.415734806f, -0.097545161f, -0.490392640f, -0.277785117f, 0.277785117f, 0.490392640f, 0.097545161f, -0.415734806f},
    {0.353553391f, -0.353553391f, -0.353553391f, 0.353553391f, 0.353553391f, -0.353553391f, -0.353553391f, 0.353553391f},
    {0.277785117f, -0.490392640f, 0.097545161f, 0.415734806f, -0.415734806f, -0.097545161f, 0.490392640f, -0.277785117f},
    {0.191341716f, -0.461939766f, 0.461939766f, -0.191341716f, -0.191341716f, 0.461939766f, -0.461939766f, 0.191341716f},
    {0.097545161f, -0.277785117f, 0.415734806f, -0.490392640f, 0.490392640f, -0.415734806f, 0.277785117f, -0.097545161f},
};

__device__ __forceinline__ void transform(float (&v)[8]) {
    float out[8];
#pragma unroll
    for (int u = 0; u < 8; ++u) {
        out[u] = 0.0f;
#pragma unroll
        for (int x = 0; x < 8; ++x) out[u] += BASIS[u][x] * v[x];
    }
#pragma unroll
    for (int u = 0; u < 8; ++u) v[u] = out[u];
}

extern "C" __global__ void dct_8x8(const float* __restrict__ image, float* __restrict__ out, int H, int W) {
    __shared__ float tile[8][129];
    int x0 = blockIdx.x * 128, y0 = blockIdx.y * 8, t = threadIdx.x;
    float v[8];
#pragma unroll
    for (int y = 0; y < 8; ++y) v[y] = x0 + t < W ? image[(y0 + y) * W + x0 + t] : 0.0f;
    transform(v);  // a column: all of it is in this thread
#pragma unroll
    for (int y = 0; y < 8; ++y) tile[y][t] = v[y];
    __syncthreads();
    int row = t % 8, left = t / 8 * 8;
#pragma unroll
    for (int x = 0; x < 8; ++x) v[x] = tile[row][left + x];
    transform(v);
#pragma unroll
    for (int x = 0; x < 8; ++x) tile[row][left + x] = v[x];
    __syncthreads();
    if (x0 + t < W) {
#pragma unroll
        for (int y = 0; y < 8; ++y) out[(y0 + y) * W + x0 + t] = tile[y][t];
    }
}
