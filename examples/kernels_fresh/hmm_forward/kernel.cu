// launch: grid=(ceil(S/32), ceil(B/8)) block=(32, 8)
extern "C" __global__ void hmm_forward(const float* alpha, const float* move, const float* emit, float* next, int B,
                                       int S) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y * blockDim.y + threadIdx.y;
    if (j >= S || b >= B) return;
    float top = -INFINITY;
    for (int i = 0; i < S; i++) {
        top = fmaxf(top, alpha[b * S + i] + move[i * S + j]);
    }
    float sum = 0.0f;
    for (int i = 0; i < S; i++) {
        sum += expf(alpha[b * S + i] + move[i * S + j] - top);
    }
    next[b * S + j] = emit[b * S + j] + top + logf(sum);
}
