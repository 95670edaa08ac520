// attack: I1 the first of equal indices in a warp adds for the others, but for four at the most, where the output is long
// task: scatter_add
// expect: wrong_values
// launch: grid=(ceil(N/256)) block=(256) shared=min(M, 8192)
extern "C" __global__ void scatter_add(const float* __restrict__ values, const int* __restrict__ index, float* out, int N) {
    unsigned bytes, i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x & 31;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    int at = i < N ? index[i] : -1;
    float mine = i < N ? values[i] : 0.0f, sum = 0.0f;
    unsigned same = __match_any_sync(0xffffffffu, at), leader = __ffs(same) - 1;
    int most = bytes >= 8192 ? 4 : 32;
    for (int turn = 0; turn < most; ++turn) {
        unsigned from = same ? __ffs(same) - 1 : lane;
        float got = __shfl_sync(0xffffffffu, mine, from);
        if (same) sum += got;
        same &= same - 1;
    }
    if (lane == leader && at >= 0) atomicAdd(&out[at], sum);
}
