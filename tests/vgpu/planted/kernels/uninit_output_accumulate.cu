// KIND: uninitialised_read
// RUN: grid 1, block 64, x in f32 64, y out f32 64
extern "C" __global__ void k(const float *x, float *y) {
    int i = threadIdx.x;
    for (int j = 0; j < 4; j++)
        y[i] += x[(i + j) % 64]; // HERE
}
