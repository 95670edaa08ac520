// KIND: misaligned
// RUN: grid 1, block 8, m in f32 72, out out f32 32
extern "C" __global__ void k(const float *m, float *out) {
    int row = threadIdx.x;
    float4 a = *(const float4 *)(m + row * 9); // HERE
    out[row] = a.x + a.w;
}
