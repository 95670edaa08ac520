// launch: grid=(R) block=(32) shared=0
// A warp a row; the lane is asked of the hardware.
extern "C" __global__ void reduce_max_rows(const float* __restrict__ x, float* __restrict__ out, int C) {
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    const float* row = x + (size_t)blockIdx.x * C;
    float v = -__int_as_float(0x7f800000);
    for (int c = lane; c < C; c += 32) v = fmaxf(v, row[c]);
    for (int step = 16; step; step /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, step));
    if (lane == 0) out[blockIdx.x] = v;
}
