// A private array indexed far outside itself.
extern "C" __global__ void k(const int *at, int *y) {
    int mine[8];
    for (int i = 0; i < 8; i++) mine[i] = at[i] * 3;
    y[threadIdx.x] = mine[at[threadIdx.x]]; // FAULT: out_of_bounds
}
