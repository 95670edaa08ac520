// launch: grid=(N/256) block=(256) shared=0
extern "C" __global__ void k(const float *x, const float *w, float *sums, float *squares, int terms) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float factor = x[i];
    float sum = 0.0f, square = 0.0f;
#pragma unroll 1
    for (int j = 0; j < terms; ++j) {
        const float v = factor * w[j];
        sum += v;
        square += v * v;
    }
    sums[i] = sum;
    squares[i] = square;
}
