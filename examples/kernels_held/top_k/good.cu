// launch: grid=(ceil(R/8)) block=(32, 8)
// A warp for each row. Each lane keeps its four best in registers; four times the best head of all lanes is taken.
#define K 4
#define FULL 0xffffffffu

extern "C" __global__ void top_k(const float* __restrict__ x, float* __restrict__ value, int* __restrict__ place, int R,
                                 int C) {
    int r = blockIdx.x * 8 + threadIdx.y;
    if (r >= R) return;
    const float* row = x + (size_t)r * C;
    float best[K];
    int where[K];
#pragma unroll
    for (int k = 0; k < K; ++k) best[k] = -INFINITY, where[k] = 0x7fffffff;
#pragma unroll 4
    for (int c = threadIdx.x; c < C; c += 32) {
        float v = row[c];
        int at = c;
        if (v > best[K - 1]) {
#pragma unroll
            for (int k = 0; k < K; ++k) {  // carry the smaller one down
                if (v > best[k] || (v == best[k] && at < where[k])) {
                    float other = best[k];
                    int others = where[k];
                    best[k] = v, where[k] = at;
                    v = other, at = others;
                }
            }
        }
    }
#pragma unroll
    for (int k = 0; k < K; ++k) {
        float v = best[0];
        int at = where[0];
        for (int step = 16; step > 0; step /= 2) {
            float other = __shfl_xor_sync(FULL, v, step);
            int others = __shfl_xor_sync(FULL, at, step);
            if (other > v || (other == v && others < at)) v = other, at = others;
        }
        if (at == where[0]) {  // mine: the next one moves up
#pragma unroll
            for (int j = 0; j + 1 < K; ++j) best[j] = best[j + 1], where[j] = where[j + 1];
            best[K - 1] = -INFINITY, where[K - 1] = 0x7fffffff;
        }
        if (threadIdx.x == 0) {
            value[r * K + k] = v;
            place[r * K + k] = at;
        }
    }
}
