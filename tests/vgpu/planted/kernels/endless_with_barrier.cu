// KIND: endless_loop
// RUN: grid 1, block 64, x in i32 64, y out i32 64
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int go;
    int t = threadIdx.x;
    if (t == 0) go = 1;
    __syncthreads();
    while (go) { // HERE
        __syncthreads();
        if (t == 0) go = x[0] + 1;
        __syncthreads();
    }
    y[t] = 1;
}
