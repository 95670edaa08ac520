// launch: grid=(N/4) block=(128) shared=0
#define COLUMNS 128

// A warp for each row.
extern "C" __global__ void k(const float *A, const float *x, float *y) {
    const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (int j = lane; j < COLUMNS; j += 32) sum += A[row * COLUMNS + j] * x[j];
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(~0u, sum, s);
    if (lane == 0) y[row] = sum;
}
