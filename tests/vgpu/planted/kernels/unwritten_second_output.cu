// KIND: output_not_written
// RUN: grid 1, block 32, x in f32 32, lo out f32 32, hi out f32 32
extern "C" __global__ void k(const float *x, float *lo, float *hi) {
    int i = threadIdx.x;
    float v = x[i];
    lo[i] = v - 1.0f;
    if (i % 2 == 0)
        hi[i] = v + 1.0f; // HERE
}
