// KIND: global_race
// RUN: grid 4, block 32, x in f32 128, total rw f32 1 zeros
extern "C" __global__ void k(const float *x, float *total) {
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
    if (threadIdx.x == 0)
        *total += v; // HERE
}
