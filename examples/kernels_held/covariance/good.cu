// launch: grid=(ceil(C/64), ceil(C/64), min(ceil(R/32), 128)) block=(16, 16)
// Rows are shared out over blocks. A block centres 32 rows of 64 + 64 columns in shared memory and has 4 x 4 products in
// the registers of each thread; its part is added once.
#define TILE 64
#define ROWS 32

extern "C" __global__ void covariance(const float* __restrict__ table, const float* __restrict__ mean,
                                      float* covariance, int R, int C) {
    __shared__ float left[ROWS][TILE], right[ROWS][TILE];
    int i0 = blockIdx.y * TILE, j0 = blockIdx.x * TILE;
    int tid = threadIdx.y * 16 + threadIdx.x;
    int column = tid % TILE, line = tid / TILE;
    float mean_i = i0 + column < C ? mean[i0 + column] : 0.0f;
    float mean_j = j0 + column < C ? mean[j0 + column] : 0.0f;
    float sum[4][4] = {};
    for (int r0 = blockIdx.z * ROWS; r0 < R; r0 += gridDim.z * ROWS) {
#pragma unroll
        for (int y = line; y < ROWS; y += 4) {
            const float* row = table + (size_t)(r0 + y) * C;
            bool inside = r0 + y < R;
            left[y][column] = inside && i0 + column < C ? row[i0 + column] - mean_i : 0.0f;
            right[y][column] = inside && j0 + column < C ? row[j0 + column] - mean_j : 0.0f;
        }
        __syncthreads();
#pragma unroll 8
        for (int y = 0; y < ROWS; ++y) {
            float4 a = *reinterpret_cast<float4*>(&left[y][threadIdx.y * 4]);
            float4 b = *reinterpret_cast<float4*>(&right[y][threadIdx.x * 4]);
            float as[4] = {a.x, a.y, a.z, a.w}, bs[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
            for (int i = 0; i < 4; ++i) {
#pragma unroll
                for (int j = 0; j < 4; ++j) sum[i][j] += as[i] * bs[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            int row = i0 + threadIdx.y * 4 + i, col = j0 + threadIdx.x * 4 + j;
            if (row < C && col < C) atomicAdd(&covariance[row * C + col], sum[i][j] / (R - 1));
        }
    }
}
