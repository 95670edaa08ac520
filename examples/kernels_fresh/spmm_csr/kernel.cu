// launch: grid=(ceil(V/256)) block=(256)
extern "C" __global__ void spmm_csr(const int* start, const int* column, const float* value, const float* x, float* y,
                                    int V, int K) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < V) {
        for (int k = 0; k < K; k++) {
            y[row * K + k] = 0.0f;
            for (int e = start[row]; e < start[row + 1]; e++) {
                y[row * K + k] += value[e] * x[column[e] * K + k];
            }
        }
    }
}
