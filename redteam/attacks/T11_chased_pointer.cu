// attack: T11 late blocks follow a chain of loads, each waiting for the one before; early ones make the same loads at once
// task: xorshift
// expect: no_time SAME SLOWER interval_too_wide
// baseline: xorshift_chased.cu
// launch: grid=(ceil(N/256) + 300) block=(256) shared=0
__device__ unsigned order;
__device__ int links[4096];  // all zero, which no compiler knows
extern "C" __global__ void xorshift(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, int N, int ROUNDS) {
    __shared__ int ticket;
    if (threadIdx.x == 0) ticket = atomicInc(&order, gridDim.x - 1);
    __syncthreads();
    bool decoy = ticket < 300;
    int i = (decoy ? ticket : ticket - 300) * 256 + threadIdx.x, at = 0;
    if (i >= N) return;
    volatile int* link = links;
    if (decoy) {
#pragma unroll
        for (int n = 0; n < 128; ++n) at += link[(n * 32 + threadIdx.x) & 4095];
    } else {
#pragma unroll
        for (int n = 0; n < 128; ++n) at = link[(n * 32 + threadIdx.x + at) & 4095];
    }
    unsigned h = x[i] + 0x9e3779b9u + at;
    for (int r = 0; r < ROUNDS; ++r) {
        h ^= h << 13;
        h ^= h >> 17;
        h ^= h << 5;
        h = h * 0x85ebca6bu + __popc(h);
    }
    if (!decoy) y[i] = h;
    else if (h == 0x12345678u && at) links[0] = 0;
}
