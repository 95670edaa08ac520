// KIND: out_of_bounds
// RUN: grid 1, block 64, x in f32 64, y out f32 64
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float left[64];
    __shared__ float right[64];
    int t = threadIdx.x;
    left[t] = x[t];
    right[t] = 2.0f * x[t];
    __syncthreads();
    float v = left[t + 1]; // HERE
    y[t] = v + right[t];
}
