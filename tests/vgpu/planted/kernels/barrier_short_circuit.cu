// KIND: barrier_divergence
// RUN: grid 1, block 96, x in i32 96, y out i32 96
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int best;
    int t = threadIdx.x;
    if (t == 0) best = -1;
    __syncthreads();
    if (t < 64 && x[t] > 20) {
        atomicMax(&best, x[t]);
        __syncthreads(); // HERE
    }
    y[t] = x[t];
}
