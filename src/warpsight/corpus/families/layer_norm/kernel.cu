// launch: grid=(R) block=(128) shared=0
extern "C" __global__ void layer_norm(const float* __restrict__ x, const float* __restrict__ gain, float* __restrict__ y,
                                      int C) {
    __shared__ float first[4];
    __shared__ float second[4];
    const float* row = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;
    float sum = 0.0f;
    float squares = 0.0f;
    #pragma unroll 4
    for (int c = threadIdx.x; c < C; c += 128) {
        float v = row[c];
        sum += v;
        squares += v * v;
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
        squares += __shfl_xor_sync(0xffffffffu, squares, step);
    }
    if (threadIdx.x % 32 == 0) {
        first[threadIdx.x / 32] = sum;
        second[threadIdx.x / 32] = squares;
    }
    __syncthreads();
    sum = first[0] + first[1] + first[2] + first[3];
    squares = second[0] + second[1] + second[2] + second[3];
    float mean = sum / C;
    float scale = rsqrtf(squares / C - mean * mean + 1e-5f);
    for (int c = threadIdx.x; c < C; c += 128) {
        out[c] = (row[c] - mean) * scale * gain[c];
    }
}
