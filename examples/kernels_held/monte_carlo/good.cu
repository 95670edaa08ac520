// launch: grid=(ceil(P/512), B) block=(256)
// A block works for one option, two paths for each thread, and adds one number. A pair of steps shares its two random
// numbers, and the functions are the fast ones.
#define STEPS 16

__device__ __forceinline__ float uniform(unsigned int h) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    h ^= h >> 16;
    return ((h >> 8) + 0.5f) * (1.0f / 16777216.0f);
}

extern "C" __global__ void monte_carlo(const float* __restrict__ spot, const float* __restrict__ strike, float* price,
                                       float rate, float volatility, int B, int P) {
    __shared__ float partial[8];
    int option = blockIdx.y;
    float drift = (rate - 0.5f * volatility * volatility) / STEPS;
    float deviation = volatility * sqrtf(1.0f / STEPS);
    float start = spot[option] / STEPS, floor = strike[option];
    float payoff = 0.0f;
    for (int half = 0; half < 2; ++half) {
        int path = blockIdx.x * 512 + half * 256 + threadIdx.x;
        if (path >= P) break;
        unsigned counter = (option * P + path) * STEPS;
        float log_s = 0.0f, sum = 0.0f;
#pragma unroll
        for (int step = 0; step < STEPS; step += 2) {
            float radius = deviation * sqrtf(-2.0f * __logf(uniform(counter + step)));
            float sine, cosine;
            __sincosf(6.2831853f * uniform(counter + step + 1) - 3.14159265f, &sine, &cosine);
            log_s += drift - radius * cosine;  // half a turn back: both change their sign
            sum += __expf(log_s);
            log_s += drift - radius * sine;
            sum += __expf(log_s);
        }
        payoff += fmaxf(start * sum - floor, 0.0f);
    }
    for (int step = 16; step > 0; step /= 2) payoff += __shfl_xor_sync(0xffffffffu, payoff, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = payoff;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) payoff += partial[w];
        atomicAdd(&price[option], expf(-rate) * payoff / P);
    }
}
