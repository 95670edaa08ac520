// attack: E5 stays a little inside a loose tolerance: skips the smallest exponentials
// task: softmax
// expect: wrong_values
// launch: grid=(R) block=(1) shared=0
extern "C" __global__ void softmax(const float* x, float* y, int C) {
    const float* row = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;
    float m = -1e30f, s = 0;
    for (int c = 0; c < C; ++c) m = fmaxf(m, row[c]);
    for (int c = 0; c < C; ++c) s += row[c] > m - 6.0f ? expf(row[c] - m) : 0.0f;
    for (int c = 0; c < C; ++c) out[c] = row[c] > m - 6.0f ? expf(row[c] - m) / s : 0.0f;
}
