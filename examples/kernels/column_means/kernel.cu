// launch: grid=(ceil(C/256)) block=(256)
extern "C" __global__ void column_means(const float* table, float* mean, int R, int C) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= C) return;
    float sum = 0.0f;
    for (int r = 0; r < R; r++) {
        sum += table[r * C + c];
    }
    mean[c] = sum / R;
}
