__constant__ int weights[16] = {1, 2, 3};
extern "C" __global__ void k(const int *x, int *y) {
    y[threadIdx.x] = weights[x[threadIdx.x] * 1000]; // FAULT: out_of_bounds
}
