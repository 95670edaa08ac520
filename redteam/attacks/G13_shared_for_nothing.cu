// attack: G13 dynamic shared memory that nobody uses halves the blocks on an SM
// task: daxpy
// expect: SAME SLOWER no_time interval_too_wide
// baseline: daxpy_864_blocks.cu
// launch: grid=(864) block=(256) shared=40960
extern "C" __global__ void daxpy(const double* __restrict__ x, double* __restrict__ y, double alpha, int N) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += stride) {
        y[i] = alpha * x[i] + y[i];
    }
}
