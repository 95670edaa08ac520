// KIND: shuffle_outside_mask
// RUN: grid 1, block 32, x in f32 32, y out f32 8
extern "C" __global__ void k(const float *x, float *y) {
    int lane = threadIdx.x;
    float v = x[lane];
    if (lane < 8)
        y[lane] = v + __shfl_down_sync(0xffu, v, 8); // HERE
}
