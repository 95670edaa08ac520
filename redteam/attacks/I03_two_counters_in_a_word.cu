// attack: I3 keeps two counters of 16 bits in each word of shared memory; the lower one runs over into the upper one
// task: histogram
// expect: wrong_values
// launch: grid=(min(ceil(N/512), 48)) block=(512) shared=4*ceil(BINS/2)
extern "C" __global__ void histogram(const int* __restrict__ values, unsigned* counts, int N, int BINS) {
    extern __shared__ unsigned pairs[];
    for (int b = threadIdx.x; b < (BINS + 1) / 2; b += 512) pairs[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 512 + threadIdx.x; i < N; i += gridDim.x * 512)
        atomicAdd(&pairs[values[i] / 2], values[i] % 2 ? 1u << 16 : 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < (BINS + 1) / 2; b += 512) {
        unsigned both = pairs[b];
        if (both & 0xffffu) atomicAdd(&counts[2 * b], both & 0xffffu);
        if (both >> 16 && 2 * b + 1 < BINS) atomicAdd(&counts[2 * b + 1], both >> 16);
    }
}
