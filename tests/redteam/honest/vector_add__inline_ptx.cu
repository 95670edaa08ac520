// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= N) return;
    float x, y, z;
    asm("ld.global.nc.f32 %0, [%1];" : "=f"(x) : "l"(a + i));
    asm("ld.global.nc.f32 %0, [%1];" : "=f"(y) : "l"(b + i));
    asm("add.rn.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(c + i), "f"(z) : "memory");
}
