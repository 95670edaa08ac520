// launch: grid=(N/256) block=(256) shared=0
#define ROW(a) a, a * 7 + 1, a * 31 + 2, a * 127 + 3, a * 251 + 4, a * 509 + 5, a * 1021 + 6, a * 2039 + 7
__constant__ unsigned table[64] = {ROW(3), ROW(5), ROW(11), ROW(13), ROW(17), ROW(19), ROW(23), ROW(29)};

extern "C" __global__ void k(const unsigned *x, unsigned *y) {
    __shared__ unsigned near[64];
    if (threadIdx.x < 64) near[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = x[i];
#pragma unroll 1
    for (int round = 0; round < 32; ++round) v = (v >> 6) ^ near[v % 64] * 2654435761u;
    y[i] = v;
}
