// KIND: endless_loop
// RUN: grid 1, block 32, x in f32 64, y out f32 32, n i32 64
extern "C" __global__ void k(const float *x, float *y, int n) {
    float s = 0;
    int i = threadIdx.x;
    while (i < n) { // HERE
        s += x[i % 64];
        i -= 32; i &= 63;
    }
    y[threadIdx.x] = s;
}
