// KIND: warp_sync_divergence
// RUN: grid 1, block 32, x in f32 32, y out f32 32
extern "C" __global__ void k(const float *x, float *y) {
    float v = x[threadIdx.x];
    v += __shfl_xor_sync(0x0000ffff, v, 1); // HERE
    y[threadIdx.x] = v;
}
