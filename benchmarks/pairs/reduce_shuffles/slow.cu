// launch: grid=(N/256) block=(256) shared=0
#define ROUNDS 8

extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int values[256];
    const int t = threadIdx.x, v = x[blockIdx.x * 256 + t];
#pragma unroll 1
    for (int r = 0; r < ROUNDS; ++r) {
        values[t] = v ^ r;
        for (int s = 128; s > 0; s /= 2) {
            __syncthreads();
            if (t < s) values[t] += values[t + s];
        }
        if (t == 0) y[blockIdx.x * ROUNDS + r] = values[0];
        __syncthreads();
    }
}
