// launch: grid=(ceil(W/32), ceil(H/32)) block=(32, 8)
// A thread goes down four rows and keeps three sorted rows of three in registers: the median of nine is the median of
// the largest minimum, the middle of the middles and the least maximum. No branches, no array in memory.
struct Three {
    int low, middle, high;
};

__device__ __forceinline__ int middle_of(int a, int b, int c) {
    return max(min(a, b), min(max(a, b), c));
}

__device__ __forceinline__ Three sorted(int a, int b, int c) {
    return {min(min(a, b), c), middle_of(a, b, c), max(max(a, b), c)};
}

extern "C" __global__ void median_3x3(const unsigned char* __restrict__ src, unsigned char* __restrict__ dst, int H,
                                      int W) {
    int x = blockIdx.x * 32 + threadIdx.x;
    int first = (blockIdx.y * 8 + threadIdx.y) * 4;
    if (x >= W || first >= H) return;
    int left = max(x - 1, 0), right = min(x + 1, W - 1);
    auto row = [&](int y) {
        const unsigned char* line = src + (size_t)min(max(y, 0), H - 1) * W;
        return sorted(line[left], line[x], line[right]);
    };
    Three above = row(first - 1), here = row(first);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        Three below = row(first + i + 1);
        int low = max(max(above.low, here.low), below.low);
        int middle = middle_of(above.middle, here.middle, below.middle);
        int high = min(min(above.high, here.high), below.high);
        if (first + i < H) dst[(size_t)(first + i) * W + x] = middle_of(low, middle, high);
        above = here;
        here = below;
    }
}
