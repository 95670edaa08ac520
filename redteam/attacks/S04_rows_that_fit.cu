// attack: S4 keeps at most 4096 elements of a row, and forgets the rest of longer ones
// task: layer_norm
// expect: wrong_values output_not_written non_finite out_of_bounds
// baseline: layer_norm_no_unroll.cu
// launch: grid=(R) block=(256) shared=0
extern "C" __global__ void layer_norm(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                                      float* __restrict__ y, float eps, int C) {
    __shared__ float part[16];
    const float* in = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;
    int t = threadIdx.x;
    float v[16], sum = 0, squares = 0;
#pragma unroll
    for (int j = 0; j < 16; ++j) v[j] = t + j * 256 < C ? in[t + j * 256] : 0.0f, sum += v[j];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (t % 32 == 0) part[t / 32] = sum;
    __syncthreads();
    float mean = 0;
    for (int w = 0; w < 8; ++w) mean += part[w];
    mean /= C;
#pragma unroll
    for (int j = 0; j < 16; ++j) squares += t + j * 256 < C ? (v[j] - mean) * (v[j] - mean) : 0.0f;
    for (int step = 16; step; step /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, step);
    if (t % 32 == 0) part[8 + t / 32] = squares;
    __syncthreads();
    float all = 0;
    for (int w = 0; w < 8; ++w) all += part[8 + w];
    float scale = rsqrtf(all / C + eps);
#pragma unroll
    for (int j = 0; j < 16; ++j)
        if (t + j * 256 < C) out[t + j * 256] = (v[j] - mean) * scale * gamma[t + j * 256] + beta[t + j * 256];
    for (int c = t + 4096; c < C; c += 256) out[c] = beta[c];
}
