// launch: grid=(ceil(N/32), ceil(M/32)) block=(64, 4) shared=0
#define TILE 32
#define DEEP 16
#define THREADS 64
#define TEAMS 4
#define PATCH 4
#define LOADS (TILE * DEEP / THREADS)

struct Slices {
    float a[DEEP][TILE + 4];  // a column of A is a row here
    float b[DEEP][TILE];
};

// Four teams of a block take turns at the slices of K. A thread makes 4 x 4 partial results from values that it holds
// in registers, and the next slices are under way meanwhile. In the end the teams' parts are added up.
extern "C" __global__ void __launch_bounds__(THREADS * TEAMS)
matmul_naive(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
    __shared__ union {
        Slices slices[TEAMS];
        float4 parts[TEAMS - 1][PATCH][THREADS];
    } tile;
    int t = threadIdx.x, team = threadIdx.y, row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    int ty = t / 8, tx = t % 8;
    float sum[PATCH][PATCH] = {};
    float next_a[LOADS], next_b[LOADS];
    Slices& mine = tile.slices[team];

    auto fetch = [&](int k0) {
#pragma unroll
        for (int e = 0; e < LOADS; ++e) {
            int at = e * THREADS + t;
            int r = row0 + at / DEEP, ka = k0 + at % DEEP, kb = k0 + at / TILE, c = col0 + at % TILE;
            next_a[e] = r < M && ka < K ? A[r * K + ka] : 0.0f;
            next_b[e] = kb < K && c < N ? B[kb * N + c] : 0.0f;
        }
    };
    fetch(team * DEEP);
    for (int k0 = 0; k0 < K; k0 += TEAMS * DEEP) {
        __syncthreads();
#pragma unroll
        for (int e = 0; e < LOADS; ++e) {
            int at = e * THREADS + t;
            mine.a[at % DEEP][at / DEEP] = next_a[e];
            mine.b[at / TILE][at % TILE] = next_b[e];
        }
        __syncthreads();
        fetch(k0 + (TEAMS + team) * DEEP);
#pragma unroll
        for (int k = 0; k < DEEP; ++k) {
            float4 a = *(const float4*)&mine.a[k][ty * PATCH], b = *(const float4*)&mine.b[k][tx * PATCH];
            float av[PATCH] = {a.x, a.y, a.z, a.w}, bv[PATCH] = {b.x, b.y, b.z, b.w};
#pragma unroll
            for (int i = 0; i < PATCH; ++i)
#pragma unroll
                for (int j = 0; j < PATCH; ++j) sum[i][j] += av[i] * bv[j];
        }
    }
    __syncthreads();
    if (team > 0) {
#pragma unroll
        for (int i = 0; i < PATCH; ++i)
            tile.parts[team - 1][i][t] = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    }
    __syncthreads();
    if (team > 0) return;
#pragma unroll
    for (int i = 0; i < PATCH; ++i) {
        float4 whole = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
#pragma unroll
        for (int other = 0; other < TEAMS - 1; ++other) {
            float4 part = tile.parts[other][i][t];
            whole.x += part.x, whole.y += part.y, whole.z += part.z, whole.w += part.w;
        }
        int row = row0 + ty * PATCH + i, col = col0 + tx * PATCH;
        float out[PATCH] = {whole.x, whole.y, whole.z, whole.w};
#pragma unroll
        for (int j = 0; j < PATCH; ++j)
            if (row < M && col + j < N) C[row * N + col + j] = out[j];
    }
}
