// KIND: warp_sync_divergence
// RUN: grid 1, block 64, x in i32 64, y out i32 64
extern "C" __global__ void k(const int *x, int *y) {
    int v = x[threadIdx.x];
    if (v & 1) v = __reduce_add_sync(0xffffffff, v); // HERE
    __syncthreads();
    y[threadIdx.x] = v;
}
