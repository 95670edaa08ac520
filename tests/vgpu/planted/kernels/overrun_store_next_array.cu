// KIND: out_of_bounds
// RUN: grid 1, block 64, x in i32 64, y out i32 64
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int count[48];
    __shared__ int value[64];
    int t = threadIdx.x;
    value[t] = x[t];
    __syncthreads();
    count[t] = value[t] + 1; // HERE
    __syncthreads();
    y[t] = t < 48 ? count[t] : 0;
}
