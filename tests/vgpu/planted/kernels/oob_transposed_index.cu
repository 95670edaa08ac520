// KIND: out_of_bounds
// RUN: grid 1, block 32x4, a in f32 96, b out f32 128, rows i32 3, cols i32 32
extern "C" __global__ void k(const float *a, float *b, int rows, int cols) {
    int c = threadIdx.x, r = threadIdx.y;
    b[c * 4 + r] = a[r * cols + c]; // HERE
}
