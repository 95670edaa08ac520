// launch: grid=(ceil(W/4/32), ceil(H/32)) block=(32, 8)
// Four cells in a word: the sums of their neighbours are added byte by byte, at most eight each. A thread goes down four
// rows and keeps the sums of three.
__device__ unsigned sides(const unsigned* row, int x, int words, unsigned* middle) {
    unsigned left = row[x ? x - 1 : words - 1], here = row[x], right = row[x + 1 < words ? x + 1 : 0];
    *middle = here;
    return __funnelshift_l(left, here, 8) + __funnelshift_r(here, right, 8);
}

extern "C" __global__ void game_of_life(const unsigned char* __restrict__ now, unsigned char* __restrict__ next, int H,
                                        int W) {
    int words = W / 4, x = blockIdx.x * 32 + threadIdx.x, y0 = (blockIdx.y * 8 + threadIdx.y) * 4;
    if (x >= words || y0 >= H) return;
    const unsigned* cells = reinterpret_cast<const unsigned*>(now);
    unsigned centre, own, below;
    unsigned above = sides(cells + (size_t)(y0 ? y0 - 1 : H - 1) * words, x, words, &own) + own;
    unsigned beside = sides(cells + (size_t)y0 * words, x, words, &centre);
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        int y = y0 + r;
        if (y >= H) return;
        unsigned under = sides(cells + (size_t)(y + 1 < H ? y + 1 : 0) * words, x, words, &below);
        unsigned around = above + beside + under + below;
        // Three neighbours, or two beside a living cell: the count with the cell put into its lowest bit is 3.
        unsigned other = (around | centre) ^ 0x03030303u;
        unsigned some = other | other >> 1 | other >> 2 | other >> 3;
        reinterpret_cast<unsigned*>(next)[(size_t)y * words + x] = ~some & 0x01010101u;
        above = beside + centre;
        beside = under;
        centre = below;
    }
}
