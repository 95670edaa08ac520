// KIND: out_of_bounds
// RUN: grid 1, block 64, x in i32 64, bins rw i32 32 zeros
extern "C" __global__ void k(const int *x, int *bins) {
    int value = x[threadIdx.x];
    atomicAdd(&bins[value], 1); // HERE
}
