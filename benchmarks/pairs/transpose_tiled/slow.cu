// launch: grid=(N/32, N/32) block=(32, 8) shared=0
#define SIDE 32

extern "C" __global__ void k(const float *x, float *y, int n) {
    const int c = blockIdx.x * SIDE + threadIdx.x, r = blockIdx.y * SIDE + threadIdx.y;
    for (int j = 0; j < SIDE; j += 8) y[c * n + r + j] = x[(r + j) * n + c];
}
