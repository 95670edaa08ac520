// launch: grid=(ceil(W/32), ceil(H/32), min(P*C, 65535)) block=(32, 4)
// A tile with its halo in shared memory, the filter in registers, eight rows for each thread: a value that is loaded
// from the tile serves up to seven outputs.
#define TILE 32
#define ROWS 8
#define K 7

extern "C" __global__ void depthwise_conv(const float* __restrict__ x, const float* __restrict__ w,
                                          float* __restrict__ y, int P, int C, int H, int W) {
    __shared__ float tile[TILE + K - 1][TILE + K - 1];
    int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE;
    for (int plane = blockIdx.z; plane < P * C; plane += gridDim.z) {
        const float* in = x + (size_t)plane * H * W;
        for (int ty = threadIdx.y; ty < TILE + K - 1; ty += 4) {
            int yy = y0 + ty - K / 2;
            for (int tx = threadIdx.x; tx < TILE + K - 1; tx += 32) {
                int xx = x0 + tx - K / 2;
                bool inside = yy >= 0 && yy < H && xx >= 0 && xx < W;
                tile[ty][tx] = inside ? in[yy * W + xx] : 0.0f;
            }
        }
        float f[K * K];
#pragma unroll
        for (int i = 0; i < K * K; ++i) f[i] = w[(plane % C) * K * K + i];
        __syncthreads();

        float sum[ROWS] = {};
        int top = threadIdx.y * ROWS;
#pragma unroll
        for (int r = 0; r < ROWS + K - 1; ++r) {
#pragma unroll
            for (int dx = 0; dx < K; ++dx) {
                float v = tile[top + r][threadIdx.x + dx];
#pragma unroll
                for (int o = 0; o < ROWS; ++o) {
                    if (r - o >= 0 && r - o < K) sum[o] += f[(r - o) * K + dx] * v;
                }
            }
        }
        int col = x0 + threadIdx.x;
#pragma unroll
        for (int o = 0; o < ROWS; ++o) {
            int row = y0 + top + o;
            if (row < H && col < W) y[((size_t)plane * H + row) * W + col] = sum[o];
        }
        __syncthreads();
    }
}
