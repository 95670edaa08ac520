// KIND: shared_race
// RUN: grid 1, block 128, x in f32 128, y out f32 128
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float s[128];
    s[threadIdx.x] = x[threadIdx.x]; // HERE
    y[threadIdx.x] = s[127 - threadIdx.x]; // HERE
}
