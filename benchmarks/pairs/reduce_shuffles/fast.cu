// launch: grid=(N/256) block=(256) shared=0
#define ROUNDS 8

extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int sums[8];
    const int t = threadIdx.x, v = x[blockIdx.x * 256 + t];
#pragma unroll 1
    for (int r = 0; r < ROUNDS; ++r) {
        int sum = v ^ r;
        for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
        if (t % 32 == 0) sums[t / 32] = sum;
        __syncthreads();
        if (t < 32) {
            sum = t < 8 ? sums[t] : 0;
            for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
            if (t == 0) y[blockIdx.x * ROUNDS + r] = sum;
        }
        __syncthreads();
    }
}
