// launch: grid=(ceil(N/256)) block=(64) shared=0
#define STEP(h) h ^= h << 13; h ^= h >> 17; h ^= h << 5; h = h * 0x85ebca6bu + popcount(h)
__kernel void xorshift(__global const uint* restrict x, __global uint* restrict y, int N, int ROUNDS) {
    int i = get_global_id(0);
    if (4 * i + 3 < N) {
        uint4 h = vload4(i, x) + 0x9e3779b9u;
        for (int r = 0; r < ROUNDS; ++r) { STEP(h); }
        vstore4(h, i, y);
    } else {
        for (int k = 4 * i; k < N; ++k) {
            uint h = x[k] + 0x9e3779b9u;
            for (int r = 0; r < ROUNDS; ++r) { STEP(h); }
            y[k] = h;
        }
    }
}
