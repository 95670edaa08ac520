// launch: grid=(R) block=(128)
// A block for each row, one pass: every thread keeps a running maximum and a sum in its scale.
#define FULL 0xffffffffu

struct Part {
    float top, sum;
};

__device__ __forceinline__ Part join(Part a, Part b) {
    float top = fmaxf(a.top, b.top);
    return {top, a.sum * __expf(a.top - top) + b.sum * __expf(b.top - top)};
}

__device__ __forceinline__ Part join_warp(Part p, int lanes) {
    for (int step = lanes / 2; step > 0; step /= 2) {
        Part other = {__shfl_xor_sync(FULL, p.top, step), __shfl_xor_sync(FULL, p.sum, step)};
        p = join(p, other);
    }
    return p;
}

extern "C" __global__ void cross_entropy(const float* __restrict__ logits, const int* __restrict__ label,
                                         float* __restrict__ loss, int R, int C) {
    __shared__ Part parts[4];
    const float* row = logits + (size_t)blockIdx.x * C;
    Part mine = {-3.0e38f, 0.0f};
#pragma unroll 4
    for (int c = threadIdx.x; c < C; c += 128) mine = join(mine, {row[c], 1.0f});
    mine = join_warp(mine, 32);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        Part all = join(join(parts[0], parts[1]), join(parts[2], parts[3]));
        loss[blockIdx.x] = logf(all.sum) + all.top - row[label[blockIdx.x]];
    }
}
