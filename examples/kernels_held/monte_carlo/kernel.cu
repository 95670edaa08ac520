// launch: grid=(ceil(B*P/256)) block=(256)
#define STEPS 16

__device__ float uniform(unsigned int h) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    h ^= h >> 16;
    return ((h >> 8) + 0.5f) / 16777216.0f;
}

__device__ float normal(unsigned int counter) {
    float u = uniform(counter & ~1u);
    float v = uniform(counter | 1u);
    float radius = sqrt(-2.0 * log(u));
    if (counter & 1) return radius * sinf(2.0f * 3.14159265f * v);
    return radius * cosf(2.0f * 3.14159265f * v);
}

extern "C" __global__ void monte_carlo(const float* spot, const float* strike, float* price, float rate,
                                       float volatility, int B, int P) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * P) return;
    int option = i / P;
    float dt = 1.0f / STEPS;
    float s = spot[option];
    float average = 0.0f;
    for (int step = 0; step < STEPS; step++) {
        float z = normal(i * STEPS + step);
        s *= expf((rate - 0.5f * volatility * volatility) * dt + volatility * sqrtf(dt) * z);
        average += s / STEPS;
    }
    float payoff = fmaxf(average - strike[option], 0.0f);
    atomicAdd(&price[option], expf(-rate) * payoff / P);
}
