// launch: grid=(min(ceil(N/1024), 144)) block=(256)
// Every warp has sums and counts of its own in shared memory; a block adds its totals once.
#define WARPS 8
#define GROUPS 64

extern "C" __global__ void group_sums(const int* __restrict__ key, const float* __restrict__ value, float* sum,
                                      int* count, int N) {
    __shared__ float sums[WARPS][GROUPS];
    __shared__ int counts[WARPS][GROUPS];
    for (int i = threadIdx.x; i < WARPS * GROUPS; i += 256) {
        sums[i / GROUPS][i % GROUPS] = 0.0f;
        counts[i / GROUPS][i % GROUPS] = 0;
    }
    __syncthreads();
    int warp = threadIdx.x / 32;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) {
        int k = key[i];
        atomicAdd(&sums[warp][k], value[i]);
        atomicAdd(&counts[warp][k], 1);
    }
    __syncthreads();
    if (threadIdx.x < GROUPS) {
        float total = 0.0f;
        int seen = 0;
        for (int w = 0; w < WARPS; ++w) {
            total += sums[w][threadIdx.x];
            seen += counts[w][threadIdx.x];
        }
        if (seen > 0) {
            atomicAdd(&sum[threadIdx.x], total);
            atomicAdd(&count[threadIdx.x], seen);
        }
    }
}
