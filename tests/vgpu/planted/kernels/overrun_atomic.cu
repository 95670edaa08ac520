// KIND: out_of_bounds
// RUN: grid 1, block 64, x in i32 64, y out i32 16
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int bins[16];
    __shared__ int total;
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    if (t == 0) total = 0;
    __syncthreads();
    atomicAdd(&bins[x[t] % 17], 1); // HERE
    atomicAdd(&total, 1);
    __syncthreads();
    if (t < 16) y[t] = bins[t] + total;
}
