// KIND: shuffle_outside_mask
// RUN: grid 1, block 64, x in i32 64, y out i32 64
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int s[64];
    int t = threadIdx.x, v = x[t];
    s[t] = v;
    if (t % 32 < 4)
        s[t] = __shfl_sync(0xfu, v, 9); // HERE
    __syncthreads();
    y[t] = s[t] * 2;
}
