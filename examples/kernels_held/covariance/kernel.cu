// launch: grid=(ceil(C/16), ceil(C/16)) block=(16, 16)
extern "C" __global__ void covariance(const float* table, const float* mean, float* covariance, int R, int C) {
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= C || j >= C) return;
    float sum = 0.0f;
    for (int r = 0; r < R; r++) {
        sum += (table[r * C + i] - mean[i]) * (table[r * C + j] - mean[j]);
    }
    covariance[i * C + j] = sum / (R - 1);
}
