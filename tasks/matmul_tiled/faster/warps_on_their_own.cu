// launch: grid=(ceil(N/32), ceil(M/16)) block=(32, 4) shared=0
#define ROWS 16
#define COLUMNS 32
#define DEEP 16
#define WARPS 4
#define A_LOADS (ROWS * DEEP / 32)
#define B_LOADS DEEP

struct Slice {
    float a[ROWS][DEEP + 4];  // four more: rows stay aligned for vectors and lie in different banks
    float b[DEEP][COLUMNS];
};

// The four warps of a block take turns at the slices of K, each with slices of its own, so that none waits for another
// before the end. A lane makes 4 x 4 partial results in registers while its warp's next slice is under way. Tiles are
// small: 512 of them for 512 x 512 results, nearly five for every multiprocessor.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 5)
matmul_tiled(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
    __shared__ __align__(16) union {
        Slice slices[WARPS];
        float parts[WARPS][ROWS][COLUMNS];
    } tile;
    int lane = threadIdx.x, warp = threadIdx.y, ty = lane / 8, tx = lane % 8;
    int row0 = blockIdx.y * ROWS, col0 = blockIdx.x * COLUMNS, ka = lane % DEEP, ra = lane / DEEP;
    Slice& mine = tile.slices[warp];
    float sum[4][4] = {};
    float next_a[A_LOADS], next_b[B_LOADS];
    // Rows and columns past the edge repeat the last one: nothing is stored of what they give.
    const float* from_b = B + min(col0 + lane, N - 1);
    const float* from_a[A_LOADS];
#pragma unroll
    for (int e = 0; e < A_LOADS; ++e) from_a[e] = A + min(row0 + ra + 2 * e, M - 1) * K + ka;

    auto fetch = [&](int k0) {
        if (k0 + DEEP <= K) {
#pragma unroll
            for (int e = 0; e < A_LOADS; ++e) next_a[e] = from_a[e][k0];
#pragma unroll
            for (int e = 0; e < B_LOADS; ++e) next_b[e] = from_b[(k0 + e) * N];
        } else {
#pragma unroll
            for (int e = 0; e < A_LOADS; ++e) next_a[e] = k0 + ka < K ? from_a[e][k0] : 0.0f;
#pragma unroll
            for (int e = 0; e < B_LOADS; ++e) next_b[e] = k0 + e < K ? from_b[(k0 + e) * N] : 0.0f;
        }
    };
    fetch(warp * DEEP);
    for (int k0 = warp * DEEP; k0 < K; k0 += WARPS * DEEP) {
        __syncwarp();
#pragma unroll
        for (int e = 0; e < A_LOADS; ++e) mine.a[ra + 2 * e][ka] = next_a[e];
#pragma unroll
        for (int e = 0; e < B_LOADS; ++e) mine.b[e][lane] = next_b[e];
        __syncwarp();
        fetch(k0 + WARPS * DEEP);
#pragma unroll
        for (int k = 0; k < DEEP; k += 4) {
            float a[4][4];
#pragma unroll
            for (int i = 0; i < 4; ++i) *(float4*)a[i] = *(const float4*)&mine.a[ty + 4 * i][k];
#pragma unroll
            for (int d = 0; d < 4; ++d) {
                float b[4];
                *(float4*)b = *(const float4*)&mine.b[k + d][tx * 4];
#pragma unroll
                for (int i = 0; i < 4; ++i)
#pragma unroll
                    for (int j = 0; j < 4; ++j) sum[i][j] += a[i][d] * b[j];
            }
        }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; ++i)
        *(float4*)&tile.parts[warp][ty + 4 * i][tx * 4] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    __syncthreads();
#pragma unroll
    for (int r = warp; r < ROWS; r += WARPS) {
        float whole = 0.0f;
#pragma unroll
        for (int part = 0; part < WARPS; ++part) whole += tile.parts[part][r][lane];
        if (row0 + r < M && col0 + lane < N) C[(row0 + r) * N + col0 + lane] = whole;
    }
}
