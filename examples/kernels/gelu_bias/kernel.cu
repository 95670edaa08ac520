// launch: grid=(ceil(R*C/256)) block=(256)
extern "C" __global__ void gelu_bias(const float* x, const float* bias, float* y, int R, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < R * C) {
        float v = x[i] + bias[i % C];
        y[i] = 0.5 * v * (1.0 + tanh(sqrt(2.0 / 3.14159265358979) * (v + 0.044715 * pow(v, 3))));
    }
}
