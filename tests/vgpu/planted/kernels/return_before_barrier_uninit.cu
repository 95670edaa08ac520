// KIND: barrier_divergence
// RUN: grid 1, block 64, x in f32 50, y out f32 50, n i32 50
extern "C" __global__ void k(const float *x, float *y, int n) {
    __shared__ float s[64];
    int i = threadIdx.x;
    if (i >= n) return;
    s[i] = x[i];
    __syncthreads(); // HERE
    y[i] = s[i ^ 3];
}
