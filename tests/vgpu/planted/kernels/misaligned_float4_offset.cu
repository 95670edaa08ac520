// KIND: misaligned
// RUN: grid 1, block 16, x in f32 128, y out f32 64
extern "C" __global__ void k(const float *x, float *y) {
    const float4 *p = reinterpret_cast<const float4 *>(x + 1);
    float4 v = p[threadIdx.x]; // HERE
    y[threadIdx.x * 4] = v.x + v.y + v.z + v.w;
}
