// launch: grid=(ceil(R/128)) block=(128)
extern "C" __global__ void softmax_rows(const float* x, float* y, int R, int C) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= R) return;
    const float* in = x + row * C;
    float* out = y + row * C;

    float largest = in[0];
    for (int c = 1; c < C; c++) {
        if (in[c] > largest) largest = in[c];
    }
    float sum = 0.0f;
    for (int c = 0; c < C; c++) {
        sum += expf(in[c] - largest);
    }
    for (int c = 0; c < C; c++) {
        out[c] = expf(in[c] - largest) / sum;
    }
}
