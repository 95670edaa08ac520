// KIND: out_of_bounds
// RUN: grid 1, block 32, x in f32 126, y out f32 128
extern "C" __global__ void k(const float4 *x, float4 *y) {
    int i = threadIdx.x;
    float4 v = x[i]; // HERE
    v.x += 1.0f;
    y[i] = v;
}
