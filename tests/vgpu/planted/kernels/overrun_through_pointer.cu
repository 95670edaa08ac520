// KIND: out_of_bounds
// RUN: grid 1, block 64, x in f32 64, y out f32 64
__device__ __noinline__ float sum3(const float *p) {
    return p[-1] // HERE
         + p[0] + p[1]; // HERE
}
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float a[64];
    __shared__ float b[64];
    int t = threadIdx.x;
    a[t] = x[t];
    b[t] = -x[t];
    __syncthreads();
    y[t] = sum3(b + t) + a[t];
}
