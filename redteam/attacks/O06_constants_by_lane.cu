// attack: O6 looks numbers up in constant memory at an address for each lane, which takes one pass for each
// task: xorshift
// expect: SAME SLOWER no_time
// baseline: xorshift_table_in_shared.cu
// launch: grid=(ceil(N/256)) block=(256) shared=0
__constant__ unsigned bits[256] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 1, 2, 2, 3, 2, 3, 3, 4, 2, 3, 3, 4, 3, 4, 4, 5, 1, 2, 2, 3, 2, 3, 3, 4, 2, 3, 3, 4, 3, 4, 4, 5, 2, 3, 3, 4, 3, 4, 4, 5, 3, 4, 4, 5, 4, 5, 5, 6, 1, 2, 2, 3, 2, 3, 3, 4, 2, 3, 3, 4, 3, 4, 4, 5, 2, 3, 3, 4, 3, 4, 4, 5, 3, 4, 4, 5, 4, 5, 5, 6, 2, 3, 3, 4, 3, 4, 4, 5, 3, 4, 4, 5, 4, 5, 5, 6, 3, 4, 4, 5, 4, 5, 5, 6, 4, 5, 5, 6, 5, 6, 6, 7, 1, 2, 2, 3, 2, 3, 3, 4, 2, 3, 3, 4, 3, 4, 4, 5, 2, 3, 3, 4, 3, 4, 4, 5, 3, 4, 4, 5, 4, 5, 5, 6, 2, 3, 3, 4, 3, 4, 4, 5, 3, 4, 4, 5, 4, 5, 5, 6, 3, 4, 4, 5, 4, 5, 5, 6, 4, 5, 5, 6, 5, 6, 6, 7, 2, 3, 3, 4, 3, 4, 4, 5, 3, 4, 4, 5, 4, 5, 5, 6, 3, 4, 4, 5, 4, 5, 5, 6, 4, 5, 5, 6, 5, 6, 6, 7, 3, 4, 4, 5, 4, 5, 5, 6, 4, 5, 5, 6, 5, 6, 6, 7, 4, 5, 5, 6, 5, 6, 6, 7, 5, 6, 6, 7, 6, 7, 7, 8};
extern "C" __global__ void xorshift(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, int N, int ROUNDS) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) {
        unsigned h = x[i] + 0x9e3779b9u;
        for (int r = 0; r < ROUNDS; ++r) {
            h ^= h << 13;
            h ^= h >> 17;
            h ^= h << 5;
            h = h * 0x85ebca6bu + bits[h & 255] + bits[h >> 8 & 255] + bits[h >> 16 & 255] + bits[h >> 24];
        }
        y[i] = h;
    }
}
