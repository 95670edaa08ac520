// KIND: global_race
// RUN: grid 4, block 32, y out i32 32
extern "C" __global__ void k(int *y) {
    y[threadIdx.x] = blockIdx.x; // HERE
}
