// launch: grid=(N/32) block=(128) shared=0
#define TURN 12
#define EACH 2

// Four threads share an item: each carries 24 words of the state, and all four take the same walk.
extern "C" __global__ void k(const volatile int *next, int *y, int steps) {
    const int item = blockIdx.x * 32 + threadIdx.x / 4, part = threadIdx.x % 4 * EACH, lane = item % 32;
    unsigned state[TURN][EACH], sum = 0;
#pragma unroll
    for (int u = 0; u < TURN; ++u)
#pragma unroll
        for (int e = 0; e < EACH; ++e) state[u][e] = item + u * 8 + part + e;
    int row = item / 32;
#pragma unroll 1
    for (int s = 0; s < steps; s += TURN)
#pragma unroll
        for (int u = 0; u < TURN; ++u) {
            row = next[row * 32 + lane];
#pragma unroll
            for (int e = 0; e < EACH; ++e) state[u][e] = (state[u][e] * (2 * (part + e) + 3)) ^ row;
        }
#pragma unroll
    for (int u = 0; u < TURN; ++u)
#pragma unroll
        for (int e = 0; e < EACH; ++e) sum += state[u][e];
    sum += __shfl_xor_sync(~0u, sum, 1);
    sum += __shfl_xor_sync(~0u, sum, 2);
    if (part == 0) y[item] = sum;
}
