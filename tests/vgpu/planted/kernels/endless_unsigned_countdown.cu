// KIND: endless_loop
// RUN: grid 1, block 32, x in f32 64, y out f32 32
extern "C" __global__ void k(const float *x, float *y) {
    float s = 0;
    for (unsigned j = 63; j >= 0; j--) // HERE
        s += x[j & 63];
    y[threadIdx.x] = s;
}
