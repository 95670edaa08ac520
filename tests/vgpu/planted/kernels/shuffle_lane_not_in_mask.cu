// KIND: shuffle_outside_mask
// RUN: grid 1, block 32, x in f32 32, y out f32 16
extern "C" __global__ void k(const float *x, float *y) {
    int lane = threadIdx.x;
    float v = x[lane];
    if (lane < 16) {
        float far = __shfl_sync(0x0000ffff, v, 20); // HERE
        y[lane] = v + far;
    }
}
