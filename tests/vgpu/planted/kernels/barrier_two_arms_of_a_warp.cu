// KIND: barrier_divergence
// RUN: grid 1, block 32, y out i32 32
extern "C" __global__ void k(int *y) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t & 1) {
        s[t] = 1;
        __syncthreads(); // HERE
        y[t] = s[t] * 3;
    } else {
        s[t] = 2;
        __syncthreads(); // HERE
        y[t] = s[t] * 5;
    }
}
