// KIND: shared_race
// RUN: grid 1, block 64, x in i32 64, y out i32 64
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        if (t >= d) s[t] += s[t - d]; // HERE
        __syncthreads();
    }
    y[t] = s[t];
}
