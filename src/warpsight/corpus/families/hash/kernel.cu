// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void hash(const unsigned* __restrict__ x, const unsigned* __restrict__ key,
                                unsigned* __restrict__ y, int N, int K, int rounds) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
        unsigned h = x[i];
        #pragma unroll 8
        for (int r = 0; r < rounds; ++r) {
            h = (h ^ (h >> 15)) * 2654435761u + key[r & (K - 1)];
        }
        y[i] = h;
    }
}
