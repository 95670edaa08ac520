// launch: grid=(N/8192) block=(256) shared=0
#define EACH 32

// Every byte is counted with an atomic in shared memory, where half of the lanes meet.
extern "C" __global__ void k(const unsigned *x, unsigned *counts) {
    __shared__ unsigned own[2];
    const int t = threadIdx.x;
    if (t < 2) own[t] = 0;
    __syncthreads();
    for (int e = 0; e < EACH; ++e) {
        const unsigned word = x[(blockIdx.x * EACH + e) * 256 + t];
        for (int b = 0; b < 32; b += 8) atomicAdd(&own[word >> b & 1], 1u);
    }
    __syncthreads();
    if (t < 2) atomicAdd(&counts[t], own[t]);
}
