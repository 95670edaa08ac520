// KIND: barrier_divergence
// RUN: grid 1, block 64, y out i32 64
extern "C" __global__ void k(int *y) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    if (t < 32) {
        __syncthreads();
        s[t] += 1;
        __syncthreads(); // HERE
    } else {
        __syncthreads();
        s[t] += 2;
    }
    __syncthreads();
    y[t] = s[63 - t];
}
