// launch: grid=(ceil(N/16), ceil(M/16)) block=(16, 16)
extern "C" __global__ void hamming(const unsigned char* queries, const unsigned char* references, int* distance, int M,
                                   int N) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    int m = blockIdx.y * blockDim.y + threadIdx.y;
    if (m < M && n < N) {
        int count = 0;
        for (int i = 0; i < 64; i++) {
            if (queries[m * 64 + i] != references[n * 64 + i]) count++;
        }
        distance[m * N + n] = count;
    }
}
