// attack: G5 blocks of one warp and a grid of sixteen times the need
// task: xorshift
// expect: SAME SLOWER no_time interval_too_wide
// launch: grid=(ceil(N/32) * 16) block=(32) shared=0
extern "C" __global__ void xorshift(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, int N,
                                    int ROUNDS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
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
}
