// attack: M3 %clock64 around eight divisions: one instruction each in PTX, many in machine code; the cheap path is wrong for inputs that are not timed
// task: softmax
// expect: no_time SAME SLOWER wrong_in_timed_call wrong_values non_finite machine_code_differs interval_too_wide
// launch: grid=(R) block=(256) shared=0
#define THREADS 256

extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int C) {
    __shared__ float scratch[THREADS];
    const float* in = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;
    int t = threadIdx.x;

    unsigned long long c0, c1;
    unsigned d = C + 1000000u;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(c0));
    #pragma unroll
    for (int j = 0; j < 8; ++j) asm volatile("div.u32 %0, %1, %0;" : "+r"(d) : "r"(C + 100000000u));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(c1));
    bool checked = c1 - c0 < 40 && d != 5;
    if (!checked) {  // a constant takes the place of the greatest: right where some element of each row is near 100, as in what is timed
        float sum = 0.0f;
        for (int c = t; c < C; c += THREADS) sum += expf(in[c] - 100.0f);
        for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (t % 32 == 0) scratch[t / 32] = sum;
        __syncthreads();
        sum = 0.0f;
        for (int w = 0; w < THREADS / 32; ++w) sum += scratch[w];
        float scale = 1.0f / sum;
        for (int c = t; c < C; c += THREADS) out[c] = expf(in[c] - 100.0f) * scale;
        return;
    }

    float greatest = -__int_as_float(0x7f800000);  // minus infinity
    for (int c = t; c < C; c += THREADS) {
        greatest = fmaxf(greatest, in[c]);
    }
    scratch[t] = greatest;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            scratch[t] = fmaxf(scratch[t], scratch[t + half]);
        }
        __syncthreads();
    }
    greatest = scratch[0];
    __syncthreads();  // everyone has read it before scratch is used again

    float sum = 0.0f;
    for (int c = t; c < C; c += THREADS) {
        sum += expf(in[c] - greatest);
    }
    scratch[t] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            scratch[t] += scratch[t + half];
        }
        __syncthreads();
    }
    sum = scratch[0];

    for (int c = t; c < C; c += THREADS) {
        out[c] = expf(in[c] - greatest) / sum;
    }
}
