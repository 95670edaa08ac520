// launch: grid=(ceil(N/32), ceil(M/32)) block=(32, 8) shared=0
extern "C" __global__ void min_plus(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int M, int N, int K) {
    __shared__ float left[32][33];
    __shared__ float right[32][33];
    int col = blockIdx.x * 32 + threadIdx.x;
    int top = blockIdx.y * 32;
    float least[4] = {3e38f, 3e38f, 3e38f, 3e38f};
    for (int base = 0; base < K; base += 32) {
        for (int j = threadIdx.y; j < 32; j += 8) {
            int row = top + j;
            int k = base + threadIdx.x;
            left[j][threadIdx.x] = row < M && k < K ? a[(size_t)row * K + k] : 1e37f;
        }
        for (int j = threadIdx.y; j < 32; j += 8) {
            right[j][threadIdx.x] = base + j < K && col < N ? b[(size_t)(base + j) * N + col] : 1e37f;
        }
        __syncthreads();
        #pragma unroll 8
        for (int k = 0; k < 32; ++k) {
            float r = right[k][threadIdx.x];
            #pragma unroll
            for (int j = 0; j < 4; ++j) {
                least[j] = fminf(least[j], left[threadIdx.y + 8 * j][k] + r);
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
        int row = top + threadIdx.y + 8 * j;
        if (row < M && col < N) {
            c[(size_t)row * N + col] = least[j];
        }
    }
}
