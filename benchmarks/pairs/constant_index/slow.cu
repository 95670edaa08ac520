// launch: grid=(N/256) block=(256) shared=0
#define ROW(a) a, a * 7 + 1, a * 31 + 2, a * 127 + 3, a * 251 + 4, a * 509 + 5, a * 1021 + 6, a * 2039 + 7
__constant__ unsigned coefficients[32] = {ROW(3), ROW(5), ROW(11), ROW(13)};

extern "C" __global__ void k(const unsigned *x, unsigned *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned v = x[i];
    unsigned sum = 0;
#pragma unroll 1
    for (int round = 0; round < 32; ++round) {
        const int j = (round + threadIdx.x) % 32;  // each lane starts elsewhere: 32 addresses, 32 passes
        sum += coefficients[j] * (v ^ j);
    }
    y[i] = sum;
}
