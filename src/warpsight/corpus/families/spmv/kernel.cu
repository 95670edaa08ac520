// launch: grid=(ceil(M/8)) block=(32, 8) shared=0
extern "C" __global__ void spmv(const int* __restrict__ rows, const int* __restrict__ cols, const float* __restrict__ vals,
                                const float* __restrict__ x, float* __restrict__ y, int M, int K) {
    for (int row = blockIdx.x * blockDim.y + threadIdx.y; row < M; row += gridDim.x * blockDim.y) {
        int end = rows[row + 1];
        float sum = 0.0f;
        #pragma unroll 2
        for (int e = rows[row] + threadIdx.x; e < end; e += 32) {
            sum += vals[e] * x[cols[e]];
        }
        for (int step = 16; step > 0; step /= 2) {
            sum += __shfl_down_sync(0xffffffffu, sum, step);
        }
        if (threadIdx.x == 0) {
            y[row] = sum;
        }
    }
}
