// launch: grid=(ceil(N/64), ceil(M/64)) block=(256)
// Four products in one instruction (dp4a). Tiles of 64 x 64 outputs and 16 words of depth, turned on their way into
// shared memory, 4 x 4 outputs in the registers of each thread.
#define TILE 64
#define DEPTH 16

extern "C" __global__ void int8_linear(const int* __restrict__ X, const int* __restrict__ W, int* __restrict__ Y, int M,
                                       int N, int K) {
    __shared__ int a[DEPTH][TILE + 4], b[DEPTH][TILE + 4];
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE, words = K / 4;
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int sum[4][4] = {};
    for (int k0 = 0; k0 < words; k0 += DEPTH) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            int line = ty + i * 16, k = k0 + tx;
            a[tx][line] = row0 + line < M && k < words ? X[(row0 + line) * words + k] : 0;
            b[tx][line] = col0 + line < N && k < words ? W[(col0 + line) * words + k] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            int4 p = *reinterpret_cast<int4*>(&a[k][ty * 4]);
            int4 q = *reinterpret_cast<int4*>(&b[k][tx * 4]);
            int ps[4] = {p.x, p.y, p.z, p.w}, qs[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
            for (int i = 0; i < 4; ++i) {
#pragma unroll
                for (int j = 0; j < 4; ++j) sum[i][j] = __dp4a(ps[i], qs[j], sum[i][j]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            int row = row0 + ty * 4 + i, col = col0 + tx * 4 + j;
            if (row < M && col < N) Y[(size_t)row * N + col] = sum[i][j];
        }
    }
}
