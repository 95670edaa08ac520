__constant__ int table[32] = {1, 2, 3};
extern "C" __global__ void k(int *y) {
    int *p = y[0] == 0 ? (int *)table : y;
    p[threadIdx.x] = 7; // FAULT: write_to_const
}
