// launch: grid=(N/256) block=(256) shared=0
extern "C" __global__ void k(const float *x, float *y, int step) {
    const int i = step * 4096 + blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2.0f * x[i] + 1.0f;
}
