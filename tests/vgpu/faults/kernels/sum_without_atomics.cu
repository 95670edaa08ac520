extern "C" __global__ void k(const float *x, float *sum) {
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    if (threadIdx.x == 0)
        *sum += v; // FAULT: global_race
}
