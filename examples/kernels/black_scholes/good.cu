// launch: grid=(ceil(N/256)) block=(256)
// Single precision throughout, the polynomial by Horner, one normal distribution for d and -d, one square root.
__device__ __forceinline__ float normal(float x) {
    float k = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(x));
    float poly = k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float tail = 0.39894228f * __expf(-0.5f * x * x) * poly;
    return x < 0.0f ? tail : 1.0f - tail;
}

extern "C" __global__ void black_scholes(const float* __restrict__ options, float* __restrict__ call,
                                         float* __restrict__ put, float rate, float volatility, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float spot = options[3 * i], strike = options[3 * i + 1], years = options[3 * i + 2];
    float deviation = volatility * sqrtf(years);
    float d1 = (logf(spot / strike) + (rate + 0.5f * volatility * volatility) * years) / deviation;
    float n1 = normal(d1), n2 = normal(d1 - deviation);
    float later = strike * __expf(-rate * years);
    call[i] = spot * n1 - later * n2;
    put[i] = later * (1.0f - n2) - spot * (1.0f - n1);
}
