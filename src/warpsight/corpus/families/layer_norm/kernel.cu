// launch: grid=(R) block=(128) shared=0
extern "C" __global__ void layer_norm(const float* __restrict__ x, const float* __restrict__ gain, float* __restrict__ y,
                                      int C) {
    __shared__ float first[32];
    __shared__ float second[32];
    const int threads = 128;
    const float4* row = reinterpret_cast<const float4*>(x + (size_t)blockIdx.x * C);
    const float4* gains = reinterpret_cast<const float4*>(gain);
    float4* out = reinterpret_cast<float4*>(y + (size_t)blockIdx.x * C);
    int quads = C / 4;
    float sum = 0.0f;
    float squares = 0.0f;
    #pragma unroll 4
    for (int q = threadIdx.x; q < quads; q += threads) {
        float4 v = row[q];
        sum += (v.x + v.y) + (v.z + v.w);
        squares += (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w);
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
    float mean = 0.0f;
    float spread = 0.0f;
    for (int w = 0; w < threads / 32; ++w) {
        mean += first[w];
        spread += second[w];
    }
    mean /= C;
    spread = spread / C - mean * mean + 1e-5f;
    float scale = rsqrtf(spread);
    for (int q = threadIdx.x; q < quads; q += threads) {
        float4 v = row[q];
        float4 g = gains[q];
        v.x = (v.x - mean) * scale * g.x;
        v.y = (v.y - mean) * scale * g.y;
        v.z = (v.z - mean) * scale * g.z;
        v.w = (v.w - mean) * scale * g.w;
        out[q] = v;
    }
}
