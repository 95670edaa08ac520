// launch: grid=(ceil(N/128)) block=(128) shared=0
#define THREADS 128

// bodies[i] is x, y, z, mass. `soft` keeps the force finite at distance zero, so a body adds nothing to itself.
extern "C" __global__ void nbody(const float4* __restrict__ bodies, float* __restrict__ acc, float soft, int N) {
    __shared__ float4 tile[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    float4 me = i < N ? bodies[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int base = 0; base < N; base += THREADS) {
        int j = base + threadIdx.x;
        // A body without mass pulls nothing: it fills the last tile.
        tile[threadIdx.x] = j < N ? bodies[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
        #pragma unroll 1
        for (int t = 0; t < THREADS; ++t) {
            float4 other = tile[t];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + soft);
            float pull = other.w * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        __syncthreads();
    }
    if (i < N) {
        acc[3 * i + 0] = ax;
        acc[3 * i + 1] = ay;
        acc[3 * i + 2] = az;
    }
}
