// KIND: shuffle_outside_mask
// RUN: grid 1, block 32, x in f32 20, y out f32 1, n i32 20
extern "C" __global__ void k(const float *x, float *y, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int o = 16; o > 0; o >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, o); // HERE
    if (i == 0) y[0] = v;
}
