// attack: G6 a loop over the grid in which only the first blocks find work: the stride is a constant, the grid is not
// task: daxpy
// expect: SAME SLOWER no_time interval_too_wide
// launch: grid=(1024) block=(256) shared=0
extern "C" __global__ void daxpy(const double* __restrict__ x, double* __restrict__ y, double alpha, int N) {
    if (blockIdx.x >= 16) return;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += 16 * 256) y[i] = alpha * x[i] + y[i];
}
