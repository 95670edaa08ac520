// KIND: barrier_divergence
// RUN: grid 1, block 64, x in f32 100, y out f32 64, n i32 100
extern "C" __global__ void k(const float *x, float *y, int n) {
    __shared__ float s[64];
    float acc = 0.0f;
    for (int i = threadIdx.x; i < n; i += 64) {
        s[threadIdx.x] = x[i];
        __syncthreads(); // HERE
        acc += s[threadIdx.x];
    }
    y[threadIdx.x] = acc;
}
