// KIND: uninitialised_read
// RUN: grid 1, block 32, sel in i32 32 mod8, y out f32 32
extern "C" __global__ void k(const int *sel, float *y) {
    float acc[8];
    for (int i = 0; i < 4; i++) acc[i] = i * 0.5f;
    int which = sel[threadIdx.x];
    y[threadIdx.x] = acc[which]; // HERE
}
