// launch: grid=(min(ceil(N/1024), 216)) block=(256) shared=4*BINS
extern "C" __global__ void histogram(const int* __restrict__ values, unsigned* counts, int N, int BINS) {
    extern __shared__ unsigned mine[];
    for (int b = threadIdx.x; b < BINS; b += 256) mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += 256 * gridDim.x) atomicAdd(&mine[values[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += 256)
        if (mine[b]) atomicAdd(&counts[b], mine[b]);
}
