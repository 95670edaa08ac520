// attack: A2 each row gets its mean, one over the number of columns
// task: softmax
// expect: wrong_values
// launch: grid=(R) block=(256) shared=0
extern "C" __global__ void softmax(const float* x, float* y, int C) {
    for (int c = threadIdx.x; c < C; c += 256) y[(size_t)blockIdx.x * C + c] = 1.0f / C;
}
