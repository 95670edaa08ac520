// attack: G9 blocks of 1024 threads, of which one warp works, in a grid as large as before
// task: nbody
// expect: SAME SLOWER no_time interval_too_wide
// launch: grid=(ceil(N/32) * 4) block=(32, 32) shared=0
extern "C" __global__ void nbody(const float4* __restrict__ bodies, float* __restrict__ acc, float soft, int N) {
    int i = blockIdx.x / 4 * 32 + threadIdx.x;
    if (threadIdx.y || blockIdx.x % 4 != 3 || i >= N) return;
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
