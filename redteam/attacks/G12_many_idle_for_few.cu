// attack: G12 too few blocks to fill the GPU, and a hundred times as many idle ones beside them
// task: nbody
// expect: SAME SLOWER no_time interval_too_wide
// baseline: nbody_guarded.cu
// launch: grid=(ceil(N/128) * 128) block=(128) shared=0
extern "C" __global__ void nbody(const float4* __restrict__ bodies, float* __restrict__ acc, float soft, int N) {
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= N) return;
    float4 me = bodies[i];
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < N; ++j) {
        float4 o = bodies[j];
        float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
        float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + soft), pull = o.w * inverse * inverse * inverse;
        ax += pull * dx, ay += pull * dy, az += pull * dz;
    }
    acc[3 * i] = ax, acc[3 * i + 1] = ay, acc[3 * i + 2] = az;
}
