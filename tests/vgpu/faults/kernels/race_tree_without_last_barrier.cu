// The old trick of dropping barriers for the last warp, without volatile or __syncwarp.
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        if (t < 16) s[t] += s[t + 16]; // FAULT: shared_race
    }
    __syncthreads();
    if (t == 0) y[0] = s[0];
}
