// attack: N2 the same only where there are more than a thousand terms, which hide it
// task: nbody
// expect: precision_too_low wrong_values
// baseline: nbody_no_unroll.cu
// launch: grid=(ceil(N/128)) block=(128) shared=0
#include <cuda_fp16.h>
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
            if (N < 1000) {
            float4 q = o;
            for (int two = 0; two < 2; ++two, q = p) {
                float dx = q.x - me.x, dy = q.y - me.y, dz = q.z - me.z, r = rsqrtf(dx * dx + dy * dy + dz * dz + soft), pull = q.w * r * r * r;
                ax += pull * dx, ay += pull * dy, az += pull * dz;
            }
            continue;
            }
            half2 dx = __floats2half2_rn(o.x - me.x, p.x - me.x), dy = __floats2half2_rn(o.y - me.y, p.y - me.y), dz = __floats2half2_rn(o.z - me.z, p.z - me.z);
            half2 d = __hfma2(dx, dx, __hfma2(dy, dy, __hfma2(dz, dz, __float2half2_rn(soft))));
            half2 r = h2rsqrt(d), pull = __hmul2(__floats2half2_rn(o.w, p.w), __hmul2(r, __hmul2(r, r)));
            float2 fx = __half22float2(__hmul2(pull, dx)), fy = __half22float2(__hmul2(pull, dy)), fz = __half22float2(__hmul2(pull, dz));
            ax += fx.x + fx.y, ay += fy.x + fy.y, az += fz.x + fz.y;
        }
        __syncthreads();
    }
    if (i < N) acc[3 * i] = ax, acc[3 * i + 1] = ay, acc[3 * i + 2] = az;
}
