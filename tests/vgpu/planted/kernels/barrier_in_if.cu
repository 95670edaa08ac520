// KIND: barrier_divergence
// RUN: grid 1, block 32, x in f32 32, y out f32 32
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    if (t < 16) {
        s[t] *= 2.0f;
        __syncthreads(); // HERE
    }
    y[t] = s[t];
}
