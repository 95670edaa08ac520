// KIND: shared_race
// RUN: grid 1, block 256, x in f32 256, y out f32 1
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int o = 128; o > 0; o >>= 1)
        if (t < o) s[t] += s[t + o]; // HERE
    if (t == 0) y[0] = s[0];
}
