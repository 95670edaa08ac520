// launch: grid=(ceil(C/1024), R) block=(256) shared=0
__device__ float activate(float v) {
    float u = 0.7978845608f * (v + 0.044715f * v * v * v);
    float gate = 1.0f / (1.0f + __expf(-2.0f * u));
    return v * gate;
}

extern "C" __global__ void gelu(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y, int R,
                                int C) {
    for (int row = blockIdx.y; row < R; row += gridDim.y) {
        for (int q = blockIdx.x * blockDim.x + threadIdx.x; q < C / 4; q += gridDim.x * blockDim.x) {
            size_t at = (size_t)row * (C / 4) + q;
            float4 p = reinterpret_cast<const float4*>(x)[at];
            float4 b = reinterpret_cast<const float4*>(bias)[q];
            p.x = activate(p.x + b.x);
            p.y = activate(p.y + b.y);
            p.z = activate(p.z + b.z);
            p.w = activate(p.w + b.w);
            reinterpret_cast<float4*>(y)[at] = p;
        }
    }
}
