// launch: grid=(ceil(N/256)) block=(256) shared=0
__device__ int links[4096];
extern "C" __global__ void xorshift(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, int N, int ROUNDS) {
    int i = blockIdx.x * 256 + threadIdx.x, at = 0;
    if (i >= N) return;
    volatile int* link = links;
#pragma unroll
    for (int n = 0; n < 128; ++n) at = link[(n * 32 + threadIdx.x + at) & 4095];
    unsigned h = x[i] + 0x9e3779b9u + at;
    for (int r = 0; r < ROUNDS; ++r) {
        h ^= h << 13;
        h ^= h >> 17;
        h ^= h << 5;
        h = h * 0x85ebca6bu + __popc(h);
    }
    y[i] = h;
}
