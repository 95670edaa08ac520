// KIND: barrier_divergence
// RUN: grid 1, block 64, x in i32 64, y out i32 32
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    if (t >= 32) return;
    __syncthreads(); // HERE
    y[t] = s[t] + s[t + 32];
}
