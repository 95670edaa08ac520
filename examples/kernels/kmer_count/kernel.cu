// launch: grid=(ceil((N-4)/256)) block=(256)
#define K 5

extern "C" __global__ void kmer_count(const unsigned char* bases, unsigned int* counts, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= N - K) {
        int word = 0;
        for (int k = 0; k < K; k++) {
            word = word * 4 + bases[i + k];
        }
        atomicAdd(&counts[word], 1);
    }
}
