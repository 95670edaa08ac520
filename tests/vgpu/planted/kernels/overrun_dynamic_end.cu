// KIND: out_of_bounds
// RUN: grid 1, block 64, shared 252, x in f32 64, y out f32 64
extern "C" __global__ void k(const float *x, float *y) {
    extern __shared__ float buf[];
    buf[threadIdx.x] = x[threadIdx.x]; // HERE
    __syncthreads();
    y[threadIdx.x] = buf[63 - threadIdx.x];
}
