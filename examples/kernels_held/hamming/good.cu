// launch: grid=(ceil(N/32), ceil(M/32)) block=(32, 8)
// Four bases in a word: words that differ are found with a few bit operations. Both sides of a tile of 32 x 32 pairs
// stand in shared memory; a thread keeps its reference in registers for four queries.
__device__ __forceinline__ unsigned different(unsigned a, unsigned b) {
    unsigned x = a ^ b;
    return (((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x) & 0x80808080u;  // the top bit of each byte that differs
}

extern "C" __global__ void hamming(const unsigned* __restrict__ queries, const unsigned* __restrict__ references,
                                   int* __restrict__ distance, int M, int N) {
    __shared__ unsigned q[32][17], r[32][17];
    int n0 = blockIdx.x * 32, m0 = blockIdx.y * 32;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 32 * 16; i += 256) {
        int line = i / 16, word = i % 16;
        q[line][word] = m0 + line < M ? queries[(m0 + line) * 16 + word] : 0;
        r[line][word] = n0 + line < N ? references[(n0 + line) * 16 + word] : 0;
    }
    __syncthreads();
    int count[4] = {};
#pragma unroll
    for (int w = 0; w < 16; w += 4) {
        unsigned mine[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) mine[j] = r[threadIdx.x][w + j];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            unsigned seen = 0;  // four words, each in bits of its own
#pragma unroll
            for (int j = 0; j < 4; ++j) seen |= different(q[threadIdx.y * 4 + k][w + j], mine[j]) >> j;
            count[k] += __popc(seen);
        }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        int m = m0 + threadIdx.y * 4 + k, n = n0 + threadIdx.x;
        if (m < M && n < N) distance[(size_t)m * N + n] = count[k];
    }
}
