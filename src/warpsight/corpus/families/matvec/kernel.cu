// launch: grid=(ceil(M/8)) block=(32, 8) shared=0
extern "C" __global__ void matvec(const float* __restrict__ A, const float* __restrict__ x, float* __restrict__ y, int M,
                                  int K) {
    for (int row = blockIdx.x * blockDim.y + threadIdx.y; row < M; row += gridDim.x * blockDim.y) {
        const float* line = A + (size_t)row * K;
        float acc = 0.0f;
        float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
        int k = threadIdx.x;
        for (; k + 96 < K; k += 128) {
            s0 += line[k] * x[k];
            s1 += line[k + 32] * x[k + 32];
            s2 += line[k + 64] * x[k + 64];
            s3 += line[k + 96] * x[k + 96];
        }
        for (; k < K; k += 32) {
            acc += line[k] * x[k];
        }
        acc += (s0 + s1) + (s2 + s3);
        for (int step = 16; step > 0; step /= 2) {
            acc += __shfl_down_sync(0xffffffffu, acc, step);
        }
        if (threadIdx.x == 0) {
            y[row] = acc;
        }
    }
}
