// attack: O9 the last steps of a sum go through shared memory without any barrier, as if lanes kept step
// task: reduce_max_rows
// expect: shared_race not_deterministic wrong_values
// baseline: reduce_max_rows_one_warp.cu
// launch: grid=(R) block=(256) shared=0
extern "C" __global__ void reduce_max_rows(const float* __restrict__ x, float* __restrict__ out, int C) {
    __shared__ volatile float best[256];
    const float* row = x + (size_t)blockIdx.x * C;
    int t = threadIdx.x;
    float v = -__int_as_float(0x7f800000);
    for (int c = t; c < C; c += 256) v = fmaxf(v, row[c]);
    best[t] = v;
    __syncthreads();
    if (t < 32) {
        for (int j = 32; j < 256; j += 32) v = fmaxf(v, best[t + j]);
        best[t] = v;
        if (t < 16) best[t] = fmaxf(best[t], best[t + 16]);
        if (t < 8) best[t] = fmaxf(best[t], best[t + 8]);
        if (t < 4) best[t] = fmaxf(best[t], best[t + 4]);
        if (t < 2) best[t] = fmaxf(best[t], best[t + 2]);
        if (t < 1) out[blockIdx.x] = fmaxf(best[0], best[1]);
    }
}
