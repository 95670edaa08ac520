// KIND: endless_loop
// RUN: grid 1, block 32, next in i32 64 ring, y out i32 32
extern "C" __global__ void k(const int *next, int *y) {
    int at = threadIdx.x, steps = 0;
    do {
        at = next[at]; // HERE
        steps++;
    } while (at >= 0); // HERE
    y[threadIdx.x] = steps;
}
