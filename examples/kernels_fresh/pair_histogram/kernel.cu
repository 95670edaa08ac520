// launch: grid=(ceil(N/16), ceil(N/16)) block=(16, 16)
extern "C" __global__ void pair_histogram(const int* x, const int* y, const int* z, int* count, int N) {
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N && j < N && i < j) {
        int dx = x[i] - x[j];
        int dy = y[i] - y[j];
        int dz = z[i] - z[j];
        int bin = (dx * dx + dy * dy + dz * dz) / 32;
        atomicAdd(&count[bin], 1);
    }
}
