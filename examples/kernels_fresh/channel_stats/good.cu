// launch: grid=(C) block=(512)
// A block for each channel reads its planes once, four numbers in a load. Sums are taken of the distance to the first
// number of the channel, so that the difference of squares loses nothing.
extern "C" __global__ void channel_stats(const float* __restrict__ x, float* __restrict__ mean,
                                         float* __restrict__ var, int N, int C, int S) {
    __shared__ float sums[16], squares[16];
    int c = blockIdx.x, quads = S / 4;
    float origin = x[(size_t)c * S], sum = 0.0f, square = 0.0f;
#pragma unroll 4
    for (int i = threadIdx.x; i < N * quads; i += 512) {
        int n = i / quads, q = i - n * quads;
        float4 v = reinterpret_cast<const float4*>(x + ((size_t)n * C + c) * S)[q];
        float a = v.x - origin, b = v.y - origin, d = v.z - origin, e = v.w - origin;
        sum += (a + b) + (d + e);
        square += (a * a + b * b) + (d * d + e * e);
    }
    for (int o = 16; o; o >>= 1) {
        sum += __shfl_xor_sync(~0u, sum, o);
        square += __shfl_xor_sync(~0u, square, o);
    }
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum, squares[threadIdx.x / 32] = square;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < 16 ? sums[threadIdx.x] : 0.0f;
        square = threadIdx.x < 16 ? squares[threadIdx.x] : 0.0f;
        for (int o = 8; o; o >>= 1) {
            sum += __shfl_xor_sync(~0u, sum, o);
            square += __shfl_xor_sync(~0u, square, o);
        }
        if (threadIdx.x == 0) {
            float count = (float)N * S, m = sum / count;
            mean[c] = origin + m;
            var[c] = square / count - m * m;
        }
    }
}
