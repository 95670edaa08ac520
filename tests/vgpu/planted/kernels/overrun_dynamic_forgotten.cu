// KIND: out_of_bounds
// RUN: grid 1, block 32, x in i32 32, y out i32 32
extern "C" __global__ void k(const int *x, int *y) {
    extern __shared__ int work[];
    int t = threadIdx.x;
    work[t] = x[t]; // HERE
    __syncthreads();
    y[t] = work[31 - t];
}
