// KIND: trap
// RUN: grid 1, block 32, x in i32 32 mod4, y out i32 32
extern "C" __global__ void k(const int *x, int *y) {
    int v = x[threadIdx.x];
    if (v == 3)
        __trap(); // HERE
    y[threadIdx.x] = v;
}
