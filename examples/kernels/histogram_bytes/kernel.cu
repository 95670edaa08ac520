// launch: grid=(ceil(N/256)) block=(256)
extern "C" __global__ void histogram_bytes(const unsigned char* data, unsigned int* counts, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        atomicAdd(&counts[data[i]], 1);
    }
}
