// KIND: uninitialised_read
// RUN: grid 1, block 64, x in f32 64, y out f32 1
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float warp_sum[32];
    float v = x[threadIdx.x];
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
    if (threadIdx.x % 32 == 0) warp_sum[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = warp_sum[threadIdx.x]; // HERE
        for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
        if (threadIdx.x == 0) y[0] = v;
    }
}
