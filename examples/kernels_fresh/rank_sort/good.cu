// launch: grid=(ceil(N/64)) block=(256)
// A block ranks 64 numbers, each by four threads that share out the others; these come through shared memory, four in a
// load. Before the number's place a tie counts as smaller, after it not: two loops with one compare each.
__device__ int below(const float* x, int first, int last, int part, float mine, bool ties) {
    int rank = 0;
    for (int j = first + part; j < last; j += 4) rank += ties ? x[j] <= mine : x[j] < mine;
    return rank;
}

extern "C" __global__ void rank_sort(const float* __restrict__ x, float* __restrict__ sorted, int N) {
    __shared__ __align__(16) float tile[1024];
    int part = threadIdx.x % 4, i = blockIdx.x * 64 + threadIdx.x / 4;
    float mine = i < N ? x[i] : 0.0f;
    int rank = 0;
    for (int j0 = 0; j0 < N; j0 += 1024) {
        int here = min(1024, N - j0);
        __syncthreads();
        for (int j = threadIdx.x; j < here; j += 256) tile[j] = x[j0 + j];
        __syncthreads();
        if (here == 1024 && (i < j0 || i >= j0 + 1024)) {
            const float4* four = reinterpret_cast<const float4*>(tile);
            if (i < j0) {
#pragma unroll 4
                for (int j = part; j < 256; j += 4) {
                    float4 v = four[j];
                    rank += (v.x < mine) + (v.y < mine) + (v.z < mine) + (v.w < mine);
                }
            } else {
#pragma unroll 4
                for (int j = part; j < 256; j += 4) {
                    float4 v = four[j];
                    rank += (v.x <= mine) + (v.y <= mine) + (v.z <= mine) + (v.w <= mine);
                }
            }
        } else {
            int split = max(0, min(here, i - j0));
            rank += below(tile, 0, split, part, mine, true) + below(tile, split, here, part, mine, false);
        }
    }
    rank += __shfl_xor_sync(~0u, rank, 1);
    rank += __shfl_xor_sync(~0u, rank, 2);
    if (part == 0 && i < N) sorted[rank] = mine;
}
