// The writer fences, but the reader never looks whether it has happened.
extern "C" __global__ void k(const int *x, int *word, int *y) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *word = x[5];
        __threadfence();
    }
    if (blockIdx.x == 1)
        y[threadIdx.x] = *word; // FAULT: global_race
}
