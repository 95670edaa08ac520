// KIND: output_not_written
// RUN: grid 1, block 64, x in f32 256, y out f32 256
extern "C" __global__ void k(const float *x, float *y) {
    for (int i = threadIdx.x; i < 256; i += 2 * blockDim.x)
        y[i] = sqrtf(x[i]); // HERE
}
