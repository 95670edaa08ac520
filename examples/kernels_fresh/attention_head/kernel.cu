// launch: grid=(ceil(Q/128)) block=(128)
#define D 64

extern "C" __global__ void attention_head(const float* q, const float* k, const float* v, float* out, int Q, int T) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= Q) return;
    float top = -INFINITY;
    for (int t = 0; t < T; t++) {
        float score = 0.0f;
        for (int d = 0; d < D; d++) score += q[i * D + d] * k[t * D + d];
        top = fmaxf(top, score / sqrtf(D));
    }
    float sum = 0.0f;
    for (int d = 0; d < D; d++) out[i * D + d] = 0.0f;
    for (int t = 0; t < T; t++) {
        float score = 0.0f;
        for (int d = 0; d < D; d++) score += q[i * D + d] * k[t * D + d];
        float weight = expf(score / sqrtf(D) - top);
        sum += weight;
        for (int d = 0; d < D; d++) out[i * D + d] += weight * v[t * D + d];
    }
    for (int d = 0; d < D; d++) out[i * D + d] /= sum;
}
