// launch: grid=(N/256) block=(256) shared=0
typedef unsigned long long u64;

extern "C" __global__ void k(const u64 *x, u64 *y, u64 period) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    u64 phase = x[i] % period, sum = 0;
#pragma unroll 1
    for (unsigned j = 0; j < 32; ++j) {
        sum += phase * (j + 1);
        phase = phase + 1 == period ? 0 : phase + 1;
    }
    y[i] = sum;
}
