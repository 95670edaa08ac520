// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void complex_mul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                       int N) {
    int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += step) {
        float2 p = reinterpret_cast<const float2*>(a)[i];
        float2 q = reinterpret_cast<const float2*>(b)[i];
        float square = q.x * q.x + q.y * q.y + 1e-6f;
        float scale = rsqrtf(square);
        float re = (p.x * q.x - p.y * q.y) * scale;
        float im = (p.x * q.y + p.y * q.x) * scale;
        reinterpret_cast<float2*>(c)[i] = make_float2(re, im);
    }
}
