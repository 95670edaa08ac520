// launch: grid=(ceil(N/(256*4))) block=(256) shared=0
__device__ __forceinline__ void move(float& w, float& m, float& v, float g, float rate) {
    float keep = 0.9f;
    m = keep * m + (1.0f - keep) * g;
    v = 0.999f * v + 0.001f * g * g;
    w -= rate * m * rsqrtf(v + 1e-8f);
}

extern "C" __global__ void adam_step(float* __restrict__ w, float* __restrict__ m, float* __restrict__ v, const float* __restrict__ g, float rate, int N) {
    int start = blockIdx.x * blockDim.x + threadIdx.x;
    int step = gridDim.x * blockDim.x;
    int quads = N / 4;
    for (int i = start; i < quads; i += step) {
        float4 a = reinterpret_cast<float4*>(w)[i];
        float4 b = reinterpret_cast<float4*>(m)[i];
        float4 c = reinterpret_cast<float4*>(v)[i];
        float4 d = reinterpret_cast<const float4*>(g)[i];
        move(a.x, b.x, c.x, d.x, rate);
        move(a.y, b.y, c.y, d.y, rate);
        move(a.z, b.z, c.z, d.z, rate);
        move(a.w, b.w, c.w, d.w, rate);
        reinterpret_cast<float4*>(w)[i] = a;
        reinterpret_cast<float4*>(m)[i] = b;
        reinterpret_cast<float4*>(v)[i] = c;
    }
    for (int i = quads * 4 + start; i < N; i += step) {
        move(w[i], m[i], v[i], g[i], rate);
    }
}
