// KIND: output_not_written
// RUN: grid 4, block 64, x in f32 256, y out f32 256, n i32 256
extern "C" __global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n - 1)
        y[i] = x[i] + x[i + 1]; // HERE
}
