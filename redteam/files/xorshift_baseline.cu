// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void __launch_bounds__(256, 1) xorshift(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, int N, int ROUNDS) {
    // Many values that live through the loop: so many registers that one block fits on an SM.
    unsigned v[160];
    int i = blockIdx.x * 256 + threadIdx.x;
    unsigned in = i < N ? x[i] : 0;
#pragma unroll
    for (int j = 0; j < 160; ++j) v[j] = __umulhi(in + j, 0x9e3779b9u + N * j);
    unsigned h = in + 0x9e3779b9u;
    for (int r = 0; r < ROUNDS; ++r) {
        h ^= h << 13;
        h ^= h >> 17;
        h ^= h << 5;
        h = h * 0x85ebca6bu + __popc(h);
        if ((h & 0xffff) + ROUNDS == 70000) {  // never: a task has at most 1024 rounds
#pragma unroll
            for (int j = 0; j < 160; ++j) h = (h ^ v[j]) * 5 + r;
#pragma unroll
            for (int j = 0; j < 160; ++j) v[j] += h;
        }
    }
    if (i < N) y[i] = h;
}
// the same, as another text
