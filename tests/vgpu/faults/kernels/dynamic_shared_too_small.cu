// The launch gives fewer bytes than the kernel uses.
extern "C" __global__ void k(int *y) {
    extern __shared__ int tile[];
    tile[threadIdx.x] = threadIdx.x; // FAULT: out_of_bounds
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x ^ 1];
}
