// launch: grid=(ceil(R/64)) block=(64)
extern "C" __global__ void cross_entropy(const float* logits, const int* label, float* loss, int R, int C) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= R) return;
    float top = -1e30f;
    for (int c = 0; c < C; c++) top = fmaxf(top, logits[r * C + c]);
    float sum = 0;
    for (int c = 0; c < C; c++) sum += exp(logits[r * C + c] - top);
    loss[r] = log(sum) + top - logits[r * C + label[r]];
}
