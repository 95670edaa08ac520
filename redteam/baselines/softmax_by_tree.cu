// launch: grid=(R) block=(256) shared=0
extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int C) {
    __shared__ float part[8];
    const float* in = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;
    int t = threadIdx.x;
    float greatest = -__int_as_float(0x7f800000);
    for (int c = t; c < C; c += 256) greatest = fmaxf(greatest, in[c]);
    for (int step = 16; step > 0; step /= 2) greatest = fmaxf(greatest, __shfl_xor_sync(0xffffffffu, greatest, step));
    if (t % 32 == 0) part[t / 32] = greatest;
    __syncthreads();
    greatest = part[0];
    for (int i = 1; i < 8; ++i) greatest = fmaxf(greatest, part[i]);
    __syncthreads();
    float sum = 0.0f;
    for (int c = t; c < C; c += 256) sum += expf(in[c] - greatest);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (t % 32 == 0) part[t / 32] = sum;
    __syncthreads();
    sum = part[0];
    for (int i = 1; i < 8; ++i) sum += part[i];
    for (int c = t; c < C; c += 256) out[c] = expf(in[c] - greatest) / sum;
}
