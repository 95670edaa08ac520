// KIND: write_to_const
// RUN: grid 1, block 32, y out i32 32
__constant__ int table[4] = {1, 2, 3, 4};
extern "C" __global__ void k(int *y) {
    int *p = table;
    asm("" : "+l"(p)); // the compiler would see through it
    y[threadIdx.x] = p[threadIdx.x & 3];
    p[threadIdx.x & 3] = 7; // HERE
}
