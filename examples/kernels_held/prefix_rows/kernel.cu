// launch: grid=(ceil(R/256)) block=(256)
extern "C" __global__ void prefix_rows(const int* x, int* y, int R, int C) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < R) {
        y[row * C] = x[row * C];
        for (int c = 1; c < C; c++) {
            y[row * C + c] = y[row * C + c - 1] + x[row * C + c];
        }
    }
}
