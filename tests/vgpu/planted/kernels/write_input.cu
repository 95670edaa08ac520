// KIND: write_to_const
// RUN: grid 1, block 64, x in f32 64, y out f32 64
extern "C" __global__ void k(float *x, float *y) {
    int i = threadIdx.x;
    float v = x[i];
    y[i] = v;
    x[i] = 0.0f; // HERE
}
