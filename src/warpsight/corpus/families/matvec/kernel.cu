// launch: grid=(ceil(M/8)) block=(32, 8) shared=0
extern "C" __global__ void matvec(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y, int M,
                                  int K) {
    for (int row = blockIdx.x * blockDim.y + threadIdx.y; row < M; row += gridDim.x * blockDim.y) {
        const float* line = A + (size_t)row * K;
        float acc = 0.0f;
        #pragma unroll 8
        for (int k = threadIdx.x; k < K; k += 32) {
            acc += line[k] * x[k];
        }
        for (int step = 16; step > 0; step /= 2) {
            acc += __shfl_down_sync(0xffffffffu, acc, step);
        }
        if (threadIdx.x == 0) {
            y[row] = acc;
        }
    }
}
