// KIND: endless_loop
// RUN: grid 1, block 32, x in i32 32, y out i32 32
extern "C" __global__ void k(const int *x, int *y) {
    int v = x[threadIdx.x];
    while (true) {
        v = v * 5 + 1; // HERE
        if (v % 2 == 0 && v % 2 == 1)
            break;
        y[threadIdx.x] = v; // HERE
    }
}
