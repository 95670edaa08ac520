// launch: grid=(ceil(C/256), R) block=(256) shared=0
extern "C" __global__ void gelu(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y, int C,
                                int R) {
    int c = blockIdx.x * 256 + threadIdx.x;
    if (c < C) {
        size_t at = (size_t)blockIdx.y * C + c;
        float v = x[at] + bias[c];
        float u = 0.7978845608f * (v + 0.044715f * v * v * v);
        float e = __expf(2.0f * u);
        float t = 1.0f - 2.0f / (e + 1.0f);
        y[at] = 0.5f * v * (1.0f + t);
    }
}
