// launch: grid=(ceil(R/8)) block=(32, 8)
// One warp for each row. A first pass keeps a running maximum and sum, so the row is read twice, not three times.
#define FULL 0xffffffffu

extern "C" __global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= R) return;  // a whole warp leaves
    const float* in = x + (size_t)row * C;
    float* out = y + (size_t)row * C;
    int lane = threadIdx.x;

    float largest = -3.0e38f, sum = 0.0f;
    for (int c = lane; c < C; c += 32) {
        float v = in[c];
        float next = fmaxf(largest, v);
        sum = sum * __expf(largest - next) + __expf(v - next);
        largest = next;
    }
    for (int step = 16; step > 0; step /= 2) {
        float other = __shfl_xor_sync(FULL, largest, step);
        float others = __shfl_xor_sync(FULL, sum, step);
        float next = fmaxf(largest, other);
        sum = sum * __expf(largest - next) + others * __expf(other - next);
        largest = next;
    }
    float scale = 1.0f / sum;
    for (int c = lane; c < C; c += 32) {
        out[c] = __expf(in[c] - largest) * scale;
    }
}
