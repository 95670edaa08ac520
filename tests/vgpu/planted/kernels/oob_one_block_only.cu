// KIND: out_of_bounds
// RUN: grid 8, block 32, p in i32 256, q out i32 256
extern "C" __global__ void k(const int *p, int *q) {
    int base = blockIdx.x * 32;
    if (blockIdx.x == 7) base += 4096;
    q[blockIdx.x * 32 + threadIdx.x] = p[base + threadIdx.x]; // HERE
}
