// attack: T13 late blocks send each step through the special-function unit, early ones through the multipliers, step for step
// task: nbody
// expect: no_time SAME SLOWER interval_too_wide
// baseline: nbody_slow_pipe.cu
// launch: grid=(ceil(N/32) + 16) block=(32) shared=0
__device__ unsigned order;
__device__ float exp2_of(float x) { float y; asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ float log2_of(float x) { float y; asm volatile("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ float like(float x) { float y; asm volatile("fma.rn.f32 %0, %1, %1, %1;" : "=f"(y) : "f"(x)); return y; }
extern "C" __global__ void nbody(const float4* __restrict__ bodies, float* __restrict__ acc, float soft, int N) {
    int ticket = threadIdx.x == 0 ? (int)atomicInc(&order, gridDim.x - 1) : 0;
    ticket = __shfl_sync(0xffffffffu, ticket, 0);
    bool decoy = ticket < 16;
    int i = (decoy ? ticket % ((N + 31) / 32) : ticket - 16) * 32 + threadIdx.x;
    if (i >= N) return;
    float4 me = bodies[i];
    float ax = 0, ay = 0, az = 0;
    if (decoy) {
        for (int j = 0; j < N; ++j) {
            float4 o = bodies[j];
            float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z, d = dx * dx + dy * dy + dz * dz + soft;
            ax += o.w * dx * like(-1.5f * like(d)), ay += o.w * dy * like(-1.5f * like(d)), az += o.w * dz * like(-1.5f * like(d));
        }
        if (ax == 1.5e-30f) acc[0] = ay + az;
        return;
    }
    for (int j = 0; j < N; ++j) {
        float4 o = bodies[j];
        float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z, d = dx * dx + dy * dy + dz * dz + soft;
        ax += o.w * dx * exp2_of(-1.5f * log2_of(d)), ay += o.w * dy * exp2_of(-1.5f * log2_of(d)), az += o.w * dz * exp2_of(-1.5f * log2_of(d));
    }
    acc[3 * i] = ax, acc[3 * i + 1] = ay, acc[3 * i + 2] = az;
}
