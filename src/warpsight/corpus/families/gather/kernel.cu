// launch: grid=(ceil(N/8)) block=(32, 8) shared=0
extern "C" __global__ void gather(const float* __restrict__ table, const int* __restrict__ index, float* __restrict__ y,
                                  int N, int D, float scale) {
    float factor = scale;
    for (int row = blockIdx.x * blockDim.y + threadIdx.y; row < N; row += gridDim.x * blockDim.y) {
        const float* from = table + (size_t)index[row] * D;
        float* to = y + (size_t)row * D;
        #pragma unroll 2
        for (int d = threadIdx.x; d < D; d += 32) {
            to[d] = from[d] * factor;
        }
    }
}
