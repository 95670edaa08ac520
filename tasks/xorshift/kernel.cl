// launch: grid=(ceil(N/256)) block=(256) shared=0
__kernel void xorshift(__global const uint* restrict x, __global uint* restrict y, int N, int ROUNDS) {
    int i = get_global_id(0);
    if (i < N) {
        uint h = x[i] + 0x9e3779b9u;
        for (int r = 0; r < ROUNDS; ++r) {
            h ^= h << 13;
            h ^= h >> 17;
            h ^= h << 5;
            h = h * 0x85ebca6bu + popcount(h);
        }
        y[i] = h;
    }
}
