// KIND: out_of_bounds
// RUN: grid 1, block 32, x in i32 32, y out i32 32
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int before[32];
    __shared__ int tile[32];
    int t = threadIdx.x;
    before[t] = 0;
    tile[t] = x[t];
    __syncthreads();
    y[t] = before[t] + tile[t] - tile[t - 1]; // HERE
}
