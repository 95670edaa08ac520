// attack: T19 the baseline's bank conflicts, by loads that do not say which memory they mean
// task: transpose
// baseline: transpose_conflicts.cu
// expect: SAME SLOWER interval_too_wide
// launch: grid=(ceil(C/32), ceil(R/32)) block=(32, 32) shared=0
__device__ float load(const float* p) {
    float v;
    asm volatile("ld.f32 %0, [%1];" : "=f"(v) : "l"(p));
    return v;
}

extern "C" __global__ void transpose(const float* x, float* y, int R, int C) {
    __shared__ float tile[1024];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y * 32 + threadIdx.x] = r < R && c < C ? x[(size_t)r * C + c] : 0.0f;
    __syncthreads();
    int oc = blockIdx.y * 32 + threadIdx.x, orow = blockIdx.x * 32 + threadIdx.y;
    float w = 0;
    for (int t = 0; t < 64; ++t) w += load(tile + (threadIdx.x + t & 31) * 32 + threadIdx.y);
    w = load(tile + threadIdx.x * 32 + threadIdx.y) + (w == 1.2345e30f);
    if (orow < C && oc < R) y[(size_t)orow * R + oc] = w;
}
