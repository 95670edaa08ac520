// KIND: barrier_divergence
// RUN: grid 3, block 64, x in f32 150, y out f32 3, n i32 150
extern "C" __global__ void k(const float *x, float *y, int n) {
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (i >= n)
        return;
    s[t] = x[i];
    __syncthreads(); // HERE
    for (int o = 32; o > 0; o >>= 1) {
        if (t < o) s[t] += s[t + o];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
