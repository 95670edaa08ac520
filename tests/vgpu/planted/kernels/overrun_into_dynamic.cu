// KIND: out_of_bounds
// RUN: grid 1, block 64, shared 512, x in f32 64, y out f32 64
extern __shared__ float scratch[];
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float fixed[32];
    int t = threadIdx.x;
    scratch[t] = x[t];
    if (t < 32) fixed[t] = x[t];
    __syncthreads();
    y[t] = fixed[t] + scratch[t]; // HERE
}
