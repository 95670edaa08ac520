// KIND: out_of_bounds
// RUN: grid 1, block 32, x in i32 32, y out i32 32
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int small[32];
    __shared__ int large[1024];
    int t = threadIdx.x;
    for (int i = t; i < 1024; i += 32) large[i] = 0;
    small[t] = x[t];
    __syncthreads();
    y[t] = small[x[t] * 16] + large[t]; // HERE
}
