// KIND: barrier_divergence
// RUN: grid 1, block 64, m in i32 64 mod4, y out i32 64
extern "C" __global__ void k(const int *m, int *y) {
    int t = threadIdx.x, v;
    switch (m[t]) {
    case 0: v = t * 3; break;
    case 1: v = t ^ 5; break;
    case 2:
        v = t + 7;
        __syncthreads(); // HERE
        break;
    default: v = -t;
    }
    y[t] = v;
}
