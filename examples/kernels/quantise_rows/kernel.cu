// launch: grid=(ceil(R/128)) block=(128)
extern "C" __global__ void quantise_rows(const float* x, signed char* q, float* scale, int R, int C) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= R) return;
    float largest = 1e-8f;
    for (int c = 0; c < C; c++) {
        largest = fmaxf(largest, fabsf(x[row * C + c]));
    }
    scale[row] = largest / 127.0f;
    for (int c = 0; c < C; c++) {
        q[row * C + c] = (signed char)rintf(x[row * C + c] / scale[row]);
    }
}
