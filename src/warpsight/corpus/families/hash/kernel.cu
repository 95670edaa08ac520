// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void hash(const unsigned* __restrict__ x, unsigned* __restrict__ y, int N, int rounds) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) {
        unsigned h = x[i];
        #pragma unroll 8
        for (int r = 0; r < rounds; ++r) {
            h = (h ^ (h >> 15)) * 2654435761u + r;
        }
        y[i] = h;
    }
}
