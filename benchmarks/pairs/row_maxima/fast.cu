// launch: grid=(N) block=(32) shared=0
#define COLUMNS 8192

extern "C" __global__ void k(const float *x, float *y) {
    const float4 *const row = (const float4 *)(x + blockIdx.x * COLUMNS);
    float best = row[threadIdx.x].x;
    for (int j = threadIdx.x; j < COLUMNS / 4; j += 32) {
        const float4 v = row[j];
        best = fmaxf(fmaxf(fmaxf(best, v.x), fmaxf(v.y, v.z)), v.w);
    }
    for (int s = 16; s > 0; s /= 2) best = fmaxf(best, __shfl_down_sync(~0u, best, s));
    if (threadIdx.x == 0) y[blockIdx.x] = best;
}
