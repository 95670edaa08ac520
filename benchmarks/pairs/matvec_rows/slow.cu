// launch: grid=(N/128) block=(128) shared=0
#define COLUMNS 128

// A thread for each row: neighbouring lanes are a whole row apart.
extern "C" __global__ void k(const float *A, const float *x, float *y) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int j = 0; j < COLUMNS; ++j) sum += A[row * COLUMNS + j] * x[j];
    y[row] = sum;
}
