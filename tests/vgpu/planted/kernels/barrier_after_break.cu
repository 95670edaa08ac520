// KIND: barrier_divergence
// RUN: grid 1, block 64, lim in i32 64, y out i32 64
extern "C" __global__ void k(const int *lim, int *y) {
    __shared__ int s[64];
    int t = threadIdx.x, r = 0;
    while (r < 8) {
        if (r >= lim[t] % 5) break;
        s[t] = r;
        __syncthreads(); // HERE
        r++;
    }
    y[t] = r;
}
