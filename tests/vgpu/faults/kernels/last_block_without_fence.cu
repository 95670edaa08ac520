// The last block adds up what the others wrote, but nothing orders those writes before the ticket.
__device__ unsigned tickets;
extern "C" __global__ void k(const float *x, float *part, float *sum) {
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    if (threadIdx.x) return;
    part[blockIdx.x] = v;
    if (atomicAdd(&tickets, 1u) != gridDim.x - 1) return;
    float all = 0.0f;
    for (int b = 0; b < gridDim.x; b++)
        all += ((volatile float *)part)[b]; // FAULT: global_race
    *sum = all;
}
