// The last thread's neighbour does not exist.
extern "C" __global__ void k(int *y) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x + 1]; // FAULT: out_of_bounds
}
