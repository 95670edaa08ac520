// launch: grid=(N/1024) block=(1024) shared=0
#define ROUNDS 8

extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int values[1024];
    const int t = threadIdx.x, v = x[blockIdx.x * 1024 + t];
#pragma unroll 1
    for (int r = 0; r < ROUNDS; ++r) {
        values[t] = v ^ r;
        for (int s = 1; s < 1024; s *= 2) {
            __syncthreads();
            const int at = 2 * s * t;  // lanes side by side, but words 2 * s apart: ever fewer banks
            if (at < 1024) values[at] += values[at + s];
        }
        if (t == 0) y[blockIdx.x * ROUNDS + r] = values[0];
        __syncthreads();
    }
}
