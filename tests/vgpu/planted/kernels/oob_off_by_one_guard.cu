// KIND: out_of_bounds
// RUN: grid 2, block 64, src in i32 100, dst out i32 100, n i32 100
extern "C" __global__ void k(const int *src, int *dst, int n) {
    int gid = blockDim.x * blockIdx.x + threadIdx.x;
    if (gid <= n)
        dst[gid] =
            src[gid] // HERE
            + 1;
}
