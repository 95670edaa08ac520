// options: --use_fast_math
// launch: grid=(ceil(N/64)) block=(64) shared=0
extern "C" __global__ void nbody(const float4* __restrict__ bodies, float* __restrict__ acc, float soft, int N) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 me = i < N ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 a = make_float3(0, 0, 0);
    for (int j = 0; j < N; ++j) {
        float4 o = bodies[j];
        float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
        float inv = rsqrtf(dx * dx + dy * dy + dz * dz + soft), pull = o.w * inv * inv * inv;
        a.x += pull * dx, a.y += pull * dy, a.z += pull * dz;
    }
    if (i < N) acc[3 * i] = a.x, acc[3 * i + 1] = a.y, acc[3 * i + 2] = a.z;
}
