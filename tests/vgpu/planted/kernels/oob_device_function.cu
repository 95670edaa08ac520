// KIND: out_of_bounds
// RUN: grid 1, block 32, x in f32 40, y out f32 32, pitch i32 2
__device__ __noinline__ float pick(const float *x, int row, int pitch) {
    const float *p = x + row * pitch;
    return p[0]; // HERE
}
extern "C" __global__ void k(const float *x, float *y, int pitch) {
    y[threadIdx.x] = pick(x, threadIdx.x, pitch);
}
