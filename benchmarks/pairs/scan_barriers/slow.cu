// launch: grid=(N/256) block=(256) shared=0
#define ROUNDS 8

// Running sums of a block: eight steps through shared memory, two barriers in each.
extern "C" __global__ void k(const unsigned *x, unsigned *y) {
    __shared__ unsigned sums[256];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    const unsigned v = x[i];
    unsigned total = 0;
    for (int r = 0; r < ROUNDS; ++r) {
        sums[t] = v ^ r;
        __syncthreads();
        for (int d = 1; d < 256; d *= 2) {
            const unsigned left = t >= d ? sums[t - d] : 0;
            __syncthreads();
            sums[t] += left;
            __syncthreads();
        }
        total ^= sums[t];
    }
    y[i] = total;
}
