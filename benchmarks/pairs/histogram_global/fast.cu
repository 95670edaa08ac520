// launch: grid=(N/4096) block=(256) shared=0
#define EACH 16

extern "C" __global__ void k(const unsigned char *x, unsigned *bins) {
    __shared__ unsigned mine[64];
    if (threadIdx.x < 64) mine[threadIdx.x] = 0;
    __syncthreads();
    const int first = blockIdx.x * 256 * EACH + threadIdx.x;
    for (int j = 0; j < EACH; ++j) atomicAdd(&mine[x[first + j * 256]], 1u);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
