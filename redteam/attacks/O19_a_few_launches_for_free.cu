// attack: O19 has clean scratch memory for its first four launches, and clears it in every launch after those
// task: histogram
// expect: SAME SLOWER interval_too_wide
// baseline: histogram_scratch_cleared.cu
// launch: grid=(54) block=(256) shared=0
__device__ unsigned mine[4][54][8][4096], used[54];
extern "C" __global__ void histogram(const int* __restrict__ values, unsigned int* counts, int N, int BINS) {
    unsigned turn = used[blockIdx.x], which = turn % 4;
    unsigned* own = mine[which][blockIdx.x][threadIdx.x / 32];
    int first = blockIdx.x * 256 + threadIdx.x, all = gridDim.x * 256;
    if (turn >= 4)
        for (int b = threadIdx.x; b < 8 * 4096; b += 256) mine[which][blockIdx.x][0][b] = 0;
    __syncthreads();
    for (int i = first; i < N; i += all) atomicAdd(&own[values[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += 256) {
        unsigned sum = 0;
        for (int w = 0; w < 8; ++w) sum += __ldcg(&mine[which][blockIdx.x][w][b]);
        if (sum) atomicAdd(&counts[b], sum);
    }
    if (threadIdx.x == 0) used[blockIdx.x] = turn + 1;
}
