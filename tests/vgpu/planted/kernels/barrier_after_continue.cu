// KIND: barrier_divergence
// RUN: grid 1, block 64, flags in i32 64 mod2, y out i32 64
extern "C" __global__ void k(const int *flags, int *y) {
    int t = threadIdx.x, n = 0;
    for (int r = 0; r < 3; r++) {
        if (flags[t] == 0) continue;
        n += r;
        __syncthreads(); // HERE
    }
    y[t] = n;
}
