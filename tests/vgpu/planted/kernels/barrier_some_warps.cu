// KIND: barrier_divergence
// RUN: grid 2, block 128, x in i32 256, y out i32 256
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = x[i];
    if (t / 32 != 2)
        __syncthreads(); // HERE
    y[i] = s[t] + 1;
}
