// KIND: out_of_bounds
// RUN: grid 1, block 64, idx in i32 64 square, t in f32 64, o out f32 64
extern "C" __global__ void k(const int *idx, const float *t, float *o) {
    int i = threadIdx.x;
    int j = idx[i];
    o[i] = t[j]; // HERE
}
