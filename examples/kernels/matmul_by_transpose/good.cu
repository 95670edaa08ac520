// launch: grid=(ceil(N/64), ceil(M/64)) block=(256)
// Tiles of 64 x 64 outputs, 16 x 16 threads with 4 x 4 outputs each. Both operands are turned on their way into shared
// memory, so that a thread reads its four values at once; the next tiles are loaded while these are used.
#define TILE 64
#define DEPTH 16

extern "C" __global__ void matmul_by_transpose(const float* __restrict__ A, const float* __restrict__ B,
                                               float* __restrict__ C, int M, int N, int K) {
    __shared__ float a[DEPTH][TILE + 4], b[DEPTH][TILE + 4];
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float sum[4][4] = {};
    float nextA[4], nextB[4];

    auto load = [&](int k0) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            int line = ty + i * 16, k = k0 + tx;
            nextA[i] = row0 + line < M && k < K ? A[(row0 + line) * K + k] : 0.0f;
            nextB[i] = col0 + line < N && k < K ? B[(col0 + line) * K + k] : 0.0f;
        }
    };
    load(0);
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            a[tx][ty + i * 16] = nextA[i];
            b[tx][ty + i * 16] = nextB[i];
        }
        __syncthreads();
        if (k0 + DEPTH < K) load(k0 + DEPTH);
#pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            float4 p = *reinterpret_cast<float4*>(&a[k][ty * 4]);
            float4 q = *reinterpret_cast<float4*>(&b[k][tx * 4]);
            float pa[4] = {p.x, p.y, p.z, p.w}, qb[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
            for (int i = 0; i < 4; ++i) {
#pragma unroll
                for (int j = 0; j < 4; ++j) sum[i][j] += pa[i] * qb[j];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            int row = row0 + ty * 4 + i, col = col0 + tx * 4 + j;
            if (row < M && col < N) C[row * N + col] = sum[i][j];
        }
    }
}
