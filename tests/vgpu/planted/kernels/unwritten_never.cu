// KIND: output_not_written
// RUN: grid 1, block 64, x in f32 64, y out f32 64, n i32 64
extern "C" __global__ void k(const float *x, float *y, int n) {
    int i = threadIdx.x;
    float v = x[i];
    if (n < 0)
        y[i] = v; // HERE
}
