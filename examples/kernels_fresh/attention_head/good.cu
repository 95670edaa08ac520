// launch: grid=(ceil(Q/32)) block=(128)
// Four lanes share a query, sixteen numbers each, in registers. Keys and values come through shared memory, 32 at a time,
// and the softmax keeps its maximum and sum as it goes.
#define TILE 32

extern "C" __global__ void attention_head(const float* __restrict__ q, const float* __restrict__ k,
                                          const float* __restrict__ v, float* __restrict__ out, int Q, int T) {
    __shared__ float4 keys[TILE][16], values[TILE][16];
    int lane = threadIdx.x % 4, i = blockIdx.x * 32 + threadIdx.x / 4;
    float4 mine[4] = {}, sums[4] = {};
#pragma unroll
    for (int d = 0; d < 4; ++d) {
        if (i < Q) mine[d] = reinterpret_cast<const float4*>(q)[(size_t)i * 16 + d * 4 + lane];
    }
    float top = -INFINITY, sum = 0.0f;
    for (int t0 = 0; t0 < T; t0 += TILE) {
        int here = min(TILE, T - t0);
        __syncthreads();
        for (int e = threadIdx.x; e < here * 16; e += 128) {
            keys[e / 16][e % 16] = reinterpret_cast<const float4*>(k)[(size_t)t0 * 16 + e];
            values[e / 16][e % 16] = reinterpret_cast<const float4*>(v)[(size_t)t0 * 16 + e];
        }
        __syncthreads();
#pragma unroll 4
        for (int t = 0; t < here; ++t) {
            float score = 0.0f;
#pragma unroll
            for (int d = 0; d < 4; ++d) {
                float4 key = keys[t][d * 4 + lane];
                score += mine[d].x * key.x + mine[d].y * key.y + mine[d].z * key.z + mine[d].w * key.w;
            }
            score += __shfl_xor_sync(~0u, score, 1);
            score += __shfl_xor_sync(~0u, score, 2);
            score *= 0.125f;
            float higher = fmaxf(top, score), scale = __expf(top - higher), weight = __expf(score - higher);
            top = higher;
            sum = sum * scale + weight;
#pragma unroll
            for (int d = 0; d < 4; ++d) {
                float4 value = values[t][d * 4 + lane];
                sums[d].x = sums[d].x * scale + weight * value.x;
                sums[d].y = sums[d].y * scale + weight * value.y;
                sums[d].z = sums[d].z * scale + weight * value.z;
                sums[d].w = sums[d].w * scale + weight * value.w;
            }
        }
    }
    if (i >= Q) return;
    float inverse = 1.0f / sum;
#pragma unroll
    for (int d = 0; d < 4; ++d) {
        float4 r = {sums[d].x * inverse, sums[d].y * inverse, sums[d].z * inverse, sums[d].w * inverse};
        reinterpret_cast<float4*>(out)[(size_t)i * 16 + d * 4 + lane] = r;
    }
}
