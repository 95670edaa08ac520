// launch: grid=(N/4096) block=(256) shared=0
#define EACH 16

extern "C" __global__ void k(const unsigned *table, const int *where, const unsigned *weight, unsigned *total) {
    __shared__ unsigned block_sum;
    if (threadIdx.x == 0) block_sum = 0;
    __syncthreads();
    unsigned sum = 0;
    for (int j = 0; j < EACH; ++j) {
        const int i = (blockIdx.x * EACH + j) * 256 + threadIdx.x;
        sum += table[where[i]] * weight[i];
    }
    sum = __reduce_add_sync(~0u, sum);
    if (threadIdx.x % 32 == 0) atomicAdd(&block_sum, sum);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, block_sum);
}
