// KIND: out_of_bounds
// RUN: grid 1, block 32, t in f32 32, o out f32 32
extern "C" __global__ void k(const float *t, float *o) {
    unsigned i = threadIdx.x;
    float s = 0.0f;
    for (int d = -1; d <= 1; d++)
        s += t[(size_t)(i + d) % 64]; // HERE
    o[i] = s;
}
