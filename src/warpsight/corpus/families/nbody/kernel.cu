// launch: grid=(ceil(N/128)) block=(128) shared=0
extern "C" __global__ void nbody(const float* __restrict__ bodies, float* __restrict__ pull, int N) {
    __shared__ float4 tile[128];
    const float4* all = reinterpret_cast<const float4*>(bodies);
    int i = blockIdx.x * 128 + threadIdx.x;
    float4 me = all[min(i, N - 1)];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int first = 0; first < N; first += 128) {
        int j = first + threadIdx.x;
        tile[threadIdx.x] = j < N ? all[j] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
        #pragma unroll 8
        for (int k = 0; k < 128; ++k) {
            float4 other = tile[k];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float dist = dx * dx + dy * dy + dz * dz + 0.01f;
            float inv = rsqrtf(dist);
            float weight = other.w * inv * inv * inv;
            ax += dx * weight;
            ay += dy * weight;
            az += dz * weight;
        }
        __syncthreads();
    }
    if (i < N) {
        reinterpret_cast<float4*>(pull)[i] = make_float4(ax, ay, az, 0.0f);
    }
}
