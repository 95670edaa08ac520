// KIND: assert_failed
// RUN: grid 1, block 64, x in i32 64, y out i32 64
extern "C" __global__ void k(const int *x, int *y) {
    int v = x[threadIdx.x];
    assert(v < 60); // HERE
    y[threadIdx.x] = v;
}
