// launch: grid=(N/256) block=(256) shared=0
extern "C" __global__ void k(const float *x, float *sums, float *squares, int n, int rows) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f, square = 0.0f;
#pragma unroll 1
    for (int r = 0; r < rows; ++r) {
        const float v = x[r * n + i];
        sum += v;
        square += v * v;
    }
    sums[i] = sum;
    squares[i] = square;
}
