// launch: grid=(ceil(N/(256*2))) block=(256) shared=0
__device__ __forceinline__ float below(float d) {
    return 0.5f * erfcf(-0.70710678f * d);
}

__device__ __forceinline__ float2 price(float s, float k, float t, float rate, float vol) {
    float root = vol * sqrtf(t);
    float d1 = __fdividef(__logf(__fdividef(s, k)) + (rate + 0.5f * vol * vol) * t, root);
    float later = k * __expf(-rate * t);
    float c = s * below(d1) - later * below(d1 - root);
    return make_float2(c, c - s + later);
}

extern "C" __global__ void option_prices(const float* __restrict__ spot, const float* __restrict__ strike, const float* __restrict__ years, float* __restrict__ call, float* __restrict__ put, float rate, float vol, int N) {
    int start = blockIdx.x * blockDim.x + threadIdx.x;
    int step = gridDim.x * blockDim.x;
    int pairs = N / 2;
    for (int i = start; i < pairs; i += step) {
        float2 s = reinterpret_cast<const float2*>(spot)[i];
        float2 k = reinterpret_cast<const float2*>(strike)[i];
        float2 t = reinterpret_cast<const float2*>(years)[i];
        float2 one = price(s.x, k.x, t.x, rate, vol);
        float2 two = price(s.y, k.y, t.y, rate, vol);
        reinterpret_cast<float2*>(call)[i] = make_float2(one.x, two.x);
        reinterpret_cast<float2*>(put)[i] = make_float2(one.y, two.y);
    }
    for (int i = pairs * 2 + start; i < N; i += step) {
        float2 one = price(spot[i], strike[i], years[i], rate, vol);
        call[i] = one.x;
        put[i] = one.y;
    }
}
