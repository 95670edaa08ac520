// attack: C12 asks the L2 to keep its lines between calls
// task: vector_add
// expect: refused SAME SLOWER
// launch: grid=(ceil(N/256)) block=(256) shared=0
__device__ float kept(const float* p) {
    float v;
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(p), "l"(policy));
    return v;
}
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) c[i] = kept(a + i) + kept(b + i);
}
