// KIND: shared_race
// RUN: grid 1, block 64, x in i32 64, y out i32 1
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (x[threadIdx.x] > 3) count++; // HERE
    __syncthreads();
    if (threadIdx.x == 0) y[0] = count;
}
