// launch: grid=(ceil(R/4)) block=(32, 4)
// A warp for each row goes on by 128 elements: four pieces are loaded together, each is scanned by shuffles.
#define FULL 0xffffffffu
#define PIECES 4

extern "C" __global__ void prefix_rows(const int* __restrict__ x, int* __restrict__ y, int R, int C) {
    int row = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
    if (row >= R) return;
    const int* in = x + (size_t)row * C;
    int* out = y + (size_t)row * C;
    int before = 0;
    for (int c = lane; c - lane < C; c += 32 * PIECES) {
        int v[PIECES];
#pragma unroll
        for (int p = 0; p < PIECES; ++p) v[p] = c + 32 * p < C ? in[c + 32 * p] : 0;
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
#pragma unroll
            for (int p = 0; p < PIECES; ++p) {
                int other = __shfl_up_sync(FULL, v[p], step);
                if (lane >= step) v[p] += other;
            }
        }
#pragma unroll
        for (int p = 0; p < PIECES; ++p) {
            if (c + 32 * p < C) out[c + 32 * p] = before + v[p];
            before += __shfl_sync(FULL, v[p], 31);
        }
    }
}
