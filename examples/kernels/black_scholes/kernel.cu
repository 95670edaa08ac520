// launch: grid=(ceil(N/256)) block=(256)
struct Option {
    float spot, strike, years;
};

// Abramowitz and Stegun, 26.2.17
__device__ double normal(double x) {
    double k = 1.0 / (1.0 + 0.2316419 * fabs(x));
    double poly = 0.319381530 * k - 0.356563782 * pow(k, 2) + 1.781477937 * pow(k, 3) - 1.821255978 * pow(k, 4) +
                  1.330274429 * pow(k, 5);
    double tail = 0.39894228040143 * exp(-0.5 * x * x) * poly;
    return x < 0 ? tail : 1.0 - tail;
}

extern "C" __global__ void black_scholes(const Option* options, float* call, float* put, float rate, float volatility,
                                         int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    double spot = options[i].spot;
    double strike = options[i].strike;
    double years = options[i].years;
    double d1 = (log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / (volatility * sqrt(years));
    double d2 = d1 - volatility * sqrt(years);
    call[i] = spot * normal(d1) - strike * exp(-rate * years) * normal(d2);
    put[i] = strike * exp(-rate * years) * normal(-d2) - spot * normal(-d1);
}
