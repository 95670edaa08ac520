// KIND: output_not_written
// RUN: grid 3, block 64, x in f32 250, y out f32 250, n i32 250
extern "C" __global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n)
        y[i] = x[i] * 2.0f; // HERE
}
