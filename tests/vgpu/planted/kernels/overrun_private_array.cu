// KIND: out_of_bounds
// RUN: grid 1, block 32, at in i32 32 mod8, y out i32 32
extern "C" __global__ void k(const int *at, int *y) {
    int mine[5];
    for (int i = 0; i < 5; i++) mine[i] = i * at[0];
    y[threadIdx.x] = mine[at[threadIdx.x]]; // HERE
}
