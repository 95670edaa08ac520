// attack: T17 adds by comparing and swapping until it holds, on one word: each needs what the last one left
// task: reduce_sum
// baseline: reduce_sum_warp_adds.cu
// expect: SLOWER
// launch: grid=(64) block=(256) shared=0
extern "C" __global__ void reduce_sum(const float* __restrict__ x, float* out, int N) {
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += 16384) sum += x[i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32) return;
    unsigned* word = (unsigned*)out;
    for (unsigned seen = atomicOr(word, 0u);;) {
        unsigned there = atomicCAS(word, seen, __float_as_uint(__uint_as_float(seen) + sum));
        if (there == seen) break;
        seen = there;
    }
}
