// KIND: endless_loop
// RUN: grid 1, block 32, x in f32 32, y out f32 32
__device__ float step(float v, float a) {
    return 0.5f * (v + a / v);
}
extern "C" __global__ void k(const float *x, float *y) {
    float a = x[threadIdx.x] + 2.0f, v = a;
    while (fabsf(v * v - a) >= 0.0f) // HERE
        v = step(v, a);
    y[threadIdx.x] = v;
}
