// launch: grid=(N/256) block=(256) shared=0
#define ROUNDS 8

// Running sums of a warp by shuffles; only the sums of the eight warps go through shared memory.
extern "C" __global__ void k(const unsigned *x, unsigned *y) {
    __shared__ unsigned warps[2][8];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t, lane = t % 32;
    const unsigned v = x[i];
    unsigned total = 0;
    for (int r = 0; r < ROUNDS; ++r) {
        unsigned sum = v ^ r;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const unsigned left = __shfl_up_sync(~0u, sum, d);
            if (lane >= d) sum += left;
        }
        if (lane == 31) warps[r % 2][t / 32] = sum;
        __syncthreads();
#pragma unroll
        for (int w = 0; w < 7; ++w)
            if (w < t / 32) sum += warps[r % 2][w];
        total ^= sum;
    }
    y[i] = total;
}
