// attack: Z6 stores the counts of bins that occur, and leaves the others as they were
// task: histogram
// expect: wrong_values
// baseline: histogram_few_blocks.cu
// launch: grid=(min(ceil(N/1024), 256)) block=(256) shared=4*BINS
__device__ unsigned total[4096], done;
extern "C" __global__ void histogram(const int* __restrict__ values, unsigned int* counts, int N, int BINS) {
    extern __shared__ unsigned mine[];
    __shared__ bool last;
    for (int b = threadIdx.x; b < BINS; b += 256) mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) atomicAdd(&mine[values[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += 256) if (mine[b]) atomicAdd(&total[b], mine[b]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last) for (int b = threadIdx.x; b < BINS; b += 256) {
        unsigned n = atomicExch(&total[b], 0u);
        if (n) counts[b] = n;
    }
}
