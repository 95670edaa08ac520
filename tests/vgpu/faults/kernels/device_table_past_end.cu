__device__ int table[16] = {1, 2, 3};
extern "C" __global__ void k(const int *x, int *y) {
    y[threadIdx.x] = table[x[threadIdx.x]]; // FAULT: out_of_bounds
}
