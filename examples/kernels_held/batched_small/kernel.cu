// launch: grid=(ceil(B/128)) block=(128)
extern "C" __global__ void batched_small(const float* a, const float* b, float* c, int B) {
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= B) return;
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++) {
            float sum = 0.0f;
            for (int k = 0; k < 8; k++) {
                sum += a[m * 64 + i * 8 + k] * b[m * 64 + k * 8 + j];
            }
            c[m * 64 + i * 8 + j] = sum;
        }
    }
}
