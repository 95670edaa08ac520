// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void complex_mul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                       int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) {
        float2 p = reinterpret_cast<const float2*>(a)[i];
        float2 q = reinterpret_cast<const float2*>(b)[i];
        float re = p.x * q.x - p.y * q.y;
        float im = p.x * q.y + p.y * q.x;
        reinterpret_cast<float2*>(c)[i] = make_float2(re, im);
    }
}
