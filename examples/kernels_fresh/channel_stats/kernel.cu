// launch: grid=(ceil(C/128)) block=(128)
extern "C" __global__ void channel_stats(const float* x, float* mean, float* var, int N, int C, int S) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= C) return;
    float sum = 0.0f;
    for (int n = 0; n < N; n++) {
        for (int s = 0; s < S; s++) {
            sum += x[(n * C + c) * S + s];
        }
    }
    float m = sum / (N * S);
    float square = 0.0f;
    for (int n = 0; n < N; n++) {
        for (int s = 0; s < S; s++) {
            float d = x[(n * C + c) * S + s] - m;
            square += d * d;
        }
    }
    mean[c] = m;
    var[c] = square / (N * S);
}
