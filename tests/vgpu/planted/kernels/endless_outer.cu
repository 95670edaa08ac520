// KIND: endless_loop
// RUN: grid 1, block 32, x in f32 64, y out f32 32
extern "C" __global__ void k(const float *x, float *y) {
    float err = 1.0f, s = 0.0f;
    while (err > 0.5f) { // HERE
        s = 0.0f;
        for (int j = 0; j < 64; j++)
            s += x[j];
        err = fabsf(s) + 1.0f;
    }
    y[threadIdx.x] = s;
}
