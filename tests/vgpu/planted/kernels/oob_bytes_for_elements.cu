// KIND: out_of_bounds
// RUN: grid 1, block 64, t in f32 64, o out f32 64
extern "C" __global__ void k(const float *t, float *o) {
    int at = threadIdx.x * sizeof(float); // a byte offset, taken for an index
    o[threadIdx.x] = t[at]; // HERE
}
