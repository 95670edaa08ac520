// KIND: shuffle_outside_mask
// RUN: grid 1, block 32, x in i32 32, y out i32 32
extern "C" __global__ void k(const int *x, int *y) {
    int lane = threadIdx.x, v = x[lane];
    if (lane < 16) {
        int w = __shfl_xor_sync(__activemask(), v, 16); // HERE
        y[lane] = w;
    } else {
        y[lane] = 0;
    }
}
