// launch: grid=(ceil(P/8)) block=(256)
// A warp for each place: 32 days become one word by a ballot, and runs are counted in words.
extern "C" __global__ void heat_waves(const float* __restrict__ heat, int* __restrict__ longest, float limit, int P,
                                      int T) {
    int p = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (p >= P) return;
    const float* days = heat + (size_t)p * T;
    int run = 0, best = 0;
#pragma unroll 4
    for (int t = 0; t < T; t += 32) {
        unsigned hot = __ballot_sync(~0u, t + lane < T && days[t + lane] > limit);
        if (hot == ~0u) {
            run += 32;
            continue;
        }
        best = max(best, run + __ffs(~hot) - 1);
        run = __clz(~hot);
        unsigned left = hot;
        int inside = 0;
        while (left) left &= left << 1, ++inside;
        best = max(best, inside);
    }
    if (lane == 0) longest[p] = max(best, run);
}
