// launch: grid=(min(ceil(N/256), 432)) block=(256) shared=0
extern "C" __global__ void histogram(const int* __restrict__ values, unsigned* counts, int N, int BINS) {
    int rounds = (N + 256 * gridDim.x - 1) / (256 * gridDim.x);
    for (int r = 0; r < rounds; ++r) {
        int i = (r * gridDim.x + blockIdx.x) * 256 + threadIdx.x;
        int v = i < N ? values[i] : -1;
        unsigned same = __match_any_sync(~0u, v);
        if (v >= 0 && __ffs(same) - 1 == threadIdx.x % 32) atomicAdd(&counts[v], (unsigned)__popc(same));
    }
}
