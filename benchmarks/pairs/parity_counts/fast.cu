// launch: grid=(N/8192) block=(256) shared=0
#define EACH 32

// A thread counts in a register, a warp adds up, and only then is there an atomic.
extern "C" __global__ void k(const unsigned *x, unsigned *counts) {
    __shared__ unsigned own;
    const int t = threadIdx.x;
    if (t == 0) own = 0;
    __syncthreads();
    unsigned odd = 0;
    for (int e = 0; e < EACH; ++e) odd += __popc(x[(blockIdx.x * EACH + e) * 256 + t] & 0x01010101u);
    for (int s = 16; s > 0; s /= 2) odd += __shfl_down_sync(~0u, odd, s);
    if (t % 32 == 0) atomicAdd(&own, odd);
    __syncthreads();
    if (t < 2) atomicAdd(&counts[t], t == 1 ? own : 256 * EACH * 4 - own);
}
