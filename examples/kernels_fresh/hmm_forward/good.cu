// launch: grid=(ceil(S/32), ceil(B/32)) block=(32, 8)
// The exponential of a sum is a product: each number goes through one exponential, and the rest is a blocked product.
extern "C" __global__ void hmm_forward(const float* __restrict__ alpha, const float* __restrict__ move,
                                       const float* __restrict__ emit, float* __restrict__ next, int B, int S) {
    __shared__ float from[32][129], moves[32][33], tops[32];
    int lane = threadIdx.x, w = threadIdx.y, j = blockIdx.x * 32 + lane, b0 = blockIdx.y * 32;
    for (int r = w; r < 32; r += 8) {
        float top = -INFINITY;
        for (int i = lane; i < S; i += 32) {
            float a = b0 + r < B ? alpha[(size_t)(b0 + r) * S + i] : 0.0f;
            from[r][i] = a;
            top = fmaxf(top, a);
        }
        for (int o = 16; o; o >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, o));
        for (int i = lane; i < S; i += 32) from[r][i] = __expf(from[r][i] - top);
        if (lane == 0) tops[r] = top;
    }
    float sum[4] = {};
    for (int i0 = 0; i0 < S; i0 += 32) {
        __syncthreads();
        for (int r = w; r < 32; r += 8) moves[r][lane] = i0 + r < S && j < S ? __expf(move[(i0 + r) * S + j]) : 0.0f;
        __syncthreads();
        int here = min(32, S - i0);
#pragma unroll 8
        for (int k = 0; k < here; ++k) {
            float m = moves[k][lane];
#pragma unroll
            for (int r = 0; r < 4; ++r) sum[r] += from[w + r * 8][i0 + k] * m;
        }
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        int b = b0 + w + r * 8;
        if (b < B && j < S) next[(size_t)b * S + j] = emit[(size_t)b * S + j] + tops[w + r * 8] + __logf(sum[r]);
    }
}
