// launch: grid=(ceil(W/32), ceil(H/16)) block=(32, 8)
// A tile with its halo in shared memory, and one exponential for each tap: both exponents are added first, in base 2.
#define RADIUS 3
#define WIDE 32
#define HIGH 16

extern "C" __global__ void bilateral(const float* __restrict__ src, float* __restrict__ dst, int H, int W,
                                     float sigma_space, float sigma_range) {
    __shared__ float tile[HIGH + 2 * RADIUS][WIDE + 2 * RADIUS];
    int x0 = blockIdx.x * WIDE, y0 = blockIdx.y * HIGH;
    for (int ty = threadIdx.y; ty < HIGH + 2 * RADIUS; ty += 8) {
        int yy = min(max(y0 + ty - RADIUS, 0), H - 1);
        for (int tx = threadIdx.x; tx < WIDE + 2 * RADIUS; tx += WIDE) {
            int xx = min(max(x0 + tx - RADIUS, 0), W - 1);
            tile[ty][tx] = src[yy * W + xx];
        }
    }
    __syncthreads();

    const float log2e = 1.4426950409f;
    float space = -log2e / (2.0f * sigma_space * sigma_space);
    float range = -log2e / (2.0f * sigma_range * sigma_range);
    int x = x0 + threadIdx.x;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        int ty = threadIdx.y + half * 8;
        float centre = tile[ty + RADIUS][threadIdx.x + RADIUS];
        float sum = 0.0f, weights = 0.0f;
#pragma unroll
        for (int dy = 0; dy <= 2 * RADIUS; ++dy) {
#pragma unroll
            for (int dx = 0; dx <= 2 * RADIUS; ++dx) {
                float v = tile[ty + dy][threadIdx.x + dx];
                float d = v - centre;
                int far = (dx - RADIUS) * (dx - RADIUS) + (dy - RADIUS) * (dy - RADIUS);
                float weight = exp2f(far * space + d * d * range);
                sum += weight * v;
                weights += weight;
            }
        }
        int y = y0 + ty;
        if (x < W && y < H) dst[y * W + x] = sum / weights;
    }
}
