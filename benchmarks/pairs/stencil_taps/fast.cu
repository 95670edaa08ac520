// launch: grid=(N/32, N/32) block=(32, 8) shared=0
#define RADIUS 4
#define TAPS (2 * RADIUS + 1)
#define SIDE (32 + 2 * RADIUS)
#define EACH 4

// A tile for 32 x 32 outputs; each thread makes four below one another, so a row of taps is read once for all four.
extern "C" __global__ void k(const float *x, float *y, int n) {  // x has a frame of RADIUS on every side
    __shared__ float tile[SIDE][SIDE];
    const int pitch = n + 2 * RADIUS, c0 = blockIdx.x * 32, r0 = blockIdx.y * 32;
    for (int r = threadIdx.y; r < SIDE; r += 8)
        for (int c = threadIdx.x; c < SIDE; c += 32) tile[r][c] = x[(r0 + r) * pitch + c0 + c];
    __syncthreads();
    float sums[EACH] = {};
#pragma unroll
    for (int dr = 0; dr < EACH + TAPS - 1; ++dr) {
        float row = 0.0f;
#pragma unroll
        for (int dc = 0; dc < TAPS; ++dc) row += tile[threadIdx.y * EACH + dr][threadIdx.x + dc];
#pragma unroll
        for (int i = 0; i < EACH; ++i)
            if (dr >= i && dr < i + TAPS) sums[i] += row;
    }
    for (int i = 0; i < EACH; ++i) y[(r0 + threadIdx.y * EACH + i) * n + c0 + threadIdx.x] = sums[i];
}
