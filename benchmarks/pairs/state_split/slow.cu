// launch: grid=(N/128) block=(128) shared=0
#define TURN 12
#define EACH 8

// A thread carries the 96 words of its item's state through a walk in which every step changes eight of them.
extern "C" __global__ void k(const volatile int *next, int *y, int steps) {
    const int item = blockIdx.x * 128 + threadIdx.x, lane = item % 32;
    unsigned state[TURN][EACH], sum = 0;
#pragma unroll
    for (int u = 0; u < TURN; ++u)
#pragma unroll
        for (int e = 0; e < EACH; ++e) state[u][e] = item + u * EACH + e;
    int row = item / 32;
#pragma unroll 1
    for (int s = 0; s < steps; s += TURN)
#pragma unroll
        for (int u = 0; u < TURN; ++u) {
            row = next[row * 32 + lane];
#pragma unroll
            for (int e = 0; e < EACH; ++e) state[u][e] = (state[u][e] * (2 * e + 3)) ^ row;
        }
#pragma unroll
    for (int u = 0; u < TURN; ++u)
#pragma unroll
        for (int e = 0; e < EACH; ++e) sum += state[u][e];
    y[item] = sum;
}
