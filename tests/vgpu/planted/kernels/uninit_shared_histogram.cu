// KIND: uninitialised_read
// RUN: grid 1, block 64, x in i32 64, y out i32 16
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int bins[16];
    atomicAdd(&bins[x[threadIdx.x] & 15], 1); // HERE
    __syncthreads();
    if (threadIdx.x < 16) y[threadIdx.x] = bins[threadIdx.x];
}
