// launch: grid=(ceil(N/512)) block=(256) shared=0
__device__ __forceinline__ unsigned step(unsigned h) {
    h ^= h << 13;
    h ^= h >> 17;
    h ^= h << 5;
    return h * 0x85ebca6bu + __popc(h);
}
extern "C" __global__ void xorshift(const unsigned* __restrict__ x, unsigned* __restrict__ y, int N, int ROUNDS) {
    int i = blockIdx.x * 512 + threadIdx.x, j = i + 256;
    unsigned a = (i < N ? x[i] : 0) + 0x9e3779b9u, b = (j < N ? x[j] : 0) + 0x9e3779b9u;
#pragma unroll 4
    for (int r = 0; r < ROUNDS; ++r) a = step(a), b = step(b);
    if (i < N) y[i] = a;
    if (j < N) y[j] = b;
}
