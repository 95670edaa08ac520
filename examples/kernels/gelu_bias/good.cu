// launch: grid=(ceil(C/1024), min(R, 65535)) block=(256)
// Single precision, gelu(v) = v * sigmoid(2 u), four columns for each thread; a block stays in one row.
__device__ __forceinline__ float gelu(float v) {
    float u = 0.7978845608f * (v + 0.044715f * v * v * v);
    return v / (1.0f + __expf(-2.0f * u));
}

extern "C" __global__ void gelu_bias(const float* __restrict__ x, const float* __restrict__ bias,
                                     float* __restrict__ y, int R, int C) {
    int c = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (c >= C) return;
    float4 b = *reinterpret_cast<const float4*>(bias + c);
    for (int r = blockIdx.y; r < R; r += gridDim.y) {
        size_t at = (size_t)r * C + c;
        float4 v = *reinterpret_cast<const float4*>(x + at);
        v.x = gelu(v.x + b.x);
        v.y = gelu(v.y + b.y);
        v.z = gelu(v.z + b.z);
        v.w = gelu(v.w + b.w);
        *reinterpret_cast<float4*>(y + at) = v;
    }
}
