// launch: grid=(ceil(W/64), ceil(H/32)) block=(64, 4)
// Rows first, then columns, both in shared memory: a running sum in each direction adds one value and takes one away.
#define RADIUS 4
#define WIDE 64
#define HIGH 32
#define SPAN (2 * RADIUS + 1)

extern "C" __global__ void box_blur(const unsigned char* __restrict__ src, unsigned char* __restrict__ dst, int H,
                                    int W) {
    __shared__ unsigned char tile[HIGH + 2 * RADIUS][WIDE + 2 * RADIUS + 4];
    __shared__ unsigned short sums[HIGH + 2 * RADIUS][WIDE];
    int x0 = blockIdx.x * WIDE, y0 = blockIdx.y * HIGH;
    int tid = threadIdx.y * WIDE + threadIdx.x;

    for (int ty = threadIdx.y; ty < HIGH + 2 * RADIUS; ty += 4) {
        int yy = min(max(y0 + ty - RADIUS, 0), H - 1);
        for (int tx = threadIdx.x; tx < WIDE + 2 * RADIUS; tx += WIDE) {
            int xx = min(max(x0 + tx - RADIUS, 0), W - 1);
            tile[ty][tx] = src[yy * W + xx];
        }
    }
    __syncthreads();

    // 40 rows of 8 pieces, each piece 8 pixels wide
    for (int i = tid; i < (HIGH + 2 * RADIUS) * 8; i += 256) {
        int ty = i / 8, left = (i % 8) * 8;
        int sum = 0;
#pragma unroll
        for (int k = 0; k < SPAN - 1; ++k) sum += tile[ty][left + k];
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            sum += tile[ty][left + k + SPAN - 1];
            sums[ty][left + k] = sum;
            sum -= tile[ty][left + k];
        }
    }
    __syncthreads();

    int x = x0 + threadIdx.x;
    int top = threadIdx.y * 8;
    int sum = 0;
#pragma unroll
    for (int k = 0; k < SPAN - 1; ++k) sum += sums[top + k][threadIdx.x];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        sum += sums[top + k + SPAN - 1][threadIdx.x];
        int y = y0 + top + k;
        if (x < W && y < H) dst[y * W + x] = (sum + SPAN * SPAN / 2) / (SPAN * SPAN);
        sum -= sums[top + k][threadIdx.x];
    }
}
