// KIND: endless_loop
// RUN: grid 1, block 32, lock rw i32 1 zeros, y rw i32 1
extern "C" __global__ void k(int *lock, int *y) {
    while (atomicCAS(lock, 0, 1) != 0) // HERE
        ;
    y[0] += 1;
}
