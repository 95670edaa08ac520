// attack: N3 bodies that are far away lose all but eight bits of their mass and place, rounded up and down in turn
// task: nbody
// expect: precision_too_low wrong_values
// baseline: nbody_no_unroll.cu
// launch: grid=(ceil(N/128)) block=(128) shared=0
extern "C" __global__ void nbody(const float4* __restrict__ bodies, float* __restrict__ acc, float soft, int N) {
    __shared__ float4 tile[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 me = i < N ? bodies[i] : make_float4(0, 0, 0, 0);
    float ax = 0, ay = 0, az = 0;
    for (int base = 0; base < N; base += 128) {
        int j = base + threadIdx.x;
        tile[threadIdx.x] = j < N ? bodies[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 8
        for (int t = 0; t < 128; t += 2) {
            float4 o = tile[t], p = tile[t + 1];
            float4 q = o;
            for (int two = 0; two < 2; ++two, q = p) {
                float ex = q.x - me.x, ey = q.y - me.y;
                if (N > 500 && ex * ex + ey * ey > 0.02f) {  // a rounding that goes up as often as down
                    unsigned half = (t + i) % 2 ? 0x8000u : 0x7fffu;
                    q.w = __uint_as_float((__float_as_uint(q.w) + half) & 0xffff0000u);
                    q.z = __uint_as_float((__float_as_uint(q.z) + half) & 0xffff0000u);
                }
                float dx = q.x - me.x, dy = q.y - me.y, dz = q.z - me.z, r = rsqrtf(dx * dx + dy * dy + dz * dz + soft), pull = q.w * r * r * r;
                ax += pull * dx, ay += pull * dy, az += pull * dz;
            }
        }
        __syncthreads();
    }
    if (i < N) acc[3 * i] = ax, acc[3 * i + 1] = ay, acc[3 * i + 2] = az;
}
