// KIND: endless_loop
// RUN: grid 2, block 32, turn rw i32 1 zeros, y rw i32 64
extern "C" __global__ void k(int *turn, int *y) {
    if (threadIdx.x == 0)
        while (atomicAdd(turn, 0) != 3) // HERE
            ;
    y[blockIdx.x * 32 + threadIdx.x] = 1;
}
