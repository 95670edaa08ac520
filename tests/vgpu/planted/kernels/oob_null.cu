// KIND: out_of_bounds
// RUN: grid 1, block 32, y ptr 0
extern "C" __global__ void k(int *y) {
    y[threadIdx.x] = 3; // HERE
}
