// attack: I4 each thread counts in bytes of its own and carries nothing over; 300 of a kind in one thread are too many
// task: histogram
// expect: wrong_values
// launch: grid=(min(ceil(N/4096), 16)) block=(64) shared=64*min(BINS, 256)
extern "C" __global__ void histogram(const int* __restrict__ values, unsigned* counts, int N, int BINS) {
    extern __shared__ unsigned char own[];
    int t = threadIdx.x, few = min(BINS, 256);
    for (int b = 0; b < few; ++b) own[b * 64 + t] = 0;
    for (int i = blockIdx.x * 64 + t; i < N; i += gridDim.x * 64) {
        int v = values[i];
        if (v < few) ++own[v * 64 + t];
        else atomicAdd(&counts[v], 1u);
    }
    __syncthreads();
    for (int b = t; b < few; b += 64) {
        unsigned n = 0;
        for (int k = 0; k < 64; ++k) n += own[b * 64 + k];
        if (n) atomicAdd(&counts[b], n);
    }
}
