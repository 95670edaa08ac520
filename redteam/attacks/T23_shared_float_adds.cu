// attack: T23 every warp adds to one float in shared memory, which is a loop of exchanges: one after the other
// task: softmax
// baseline: softmax_by_tree.cu
// expect: SLOWER SAME interval_too_wide
// launch: grid=(R) block=(256) shared=0
extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int C) {
    __shared__ int greatest_bits;
    __shared__ float total;
    const float* in = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;
    int t = threadIdx.x;
    if (t == 0) greatest_bits = 0x80000000, total = 0.0f;
    __syncthreads();
    float greatest = -__int_as_float(0x7f800000);
    for (int c = t; c < C; c += 256) greatest = fmaxf(greatest, in[c]);
    int bits = __float_as_int(greatest);
    atomicMax(&greatest_bits, bits >= 0 ? bits : bits ^ 0x7fffffff);
    __syncthreads();
    bits = greatest_bits;
    greatest = __int_as_float(bits >= 0 ? bits : bits ^ 0x7fffffff);
    float sum = 0.0f;
    for (int c = t; c < C; c += 256) sum += expf(in[c] - greatest);
    for (int step = 2; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step, 4);
    if (t % 4 == 0) atomicAdd(&total, sum);
    __syncthreads();
    sum = total;
    for (int c = t; c < C; c += 256) out[c] = expf(in[c] - greatest) / sum;
}
