// launch: grid=(ceil(N/256)) block=(256) shared=0
// Somebody left their measuring in: the clock is read, and nothing depends on it.
extern "C" __global__ void xorshift(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, int N, int ROUNDS) {
    long long begun = clock64();
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) {
        unsigned int h = x[i] + 0x9e3779b9u;
        for (int r = 0; r < ROUNDS; ++r) {
            h ^= h << 13;
            h ^= h >> 17;
            h ^= h << 5;
            h = h * 0x85ebca6bu + __popc(h);
        }
        y[i] = h;
    }
    long long took = clock64() - begun;
    asm volatile("" ::"l"(took));
}
