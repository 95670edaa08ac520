// attack: T22 warps hand a value on by flags in shared memory, in the order in which they happen to be run
// task: reduce_max_rows
// expect: waits_for_others SAME SLOWER interval_too_wide
// launch: grid=(R) block=(256) shared=0
extern "C" __global__ void reduce_max_rows(const float* __restrict__ x, float* __restrict__ out, int C) {
    __shared__ volatile float best[9];
    __shared__ volatile int there[9];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x < 9) there[threadIdx.x] = threadIdx.x == 0, best[threadIdx.x] = -__int_as_float(0x7f800000);
    __syncthreads();
    float value = -__int_as_float(0x7f800000);
    const float* row = x + (size_t)blockIdx.x * C;
    for (int c = threadIdx.x; c < C; c += 256) value = fmaxf(value, row[c]);
    for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_down_sync(0xffffffffu, value, step));
    if (lane == 0) {
        while (!there[warp]) {
        }
        best[warp + 1] = fmaxf(best[warp], value);
        __threadfence_block();
        there[warp + 1] = 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = best[8];
}
