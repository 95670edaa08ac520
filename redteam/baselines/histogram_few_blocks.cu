// launch: grid=(min(ceil(N/1024), 16)) block=(256) shared=4*BINS
extern "C" __global__ void histogram(const int* __restrict__ values, unsigned int* counts, int N, int BINS) {
    extern __shared__ unsigned int mine[];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) {
        mine[b] = 0;
    }
    __syncthreads();
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += stride) {
        atomicAdd(&mine[values[i]], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) {
        if (mine[b] > 0) {
            atomicAdd(&counts[b], mine[b]);
        }
    }
}
