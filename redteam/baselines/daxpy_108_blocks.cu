// launch: grid=(min(ceil(N/256), 108)) block=(256) shared=0
extern "C" __global__ void daxpy(const double* __restrict__ x, double* __restrict__ y, double alpha, int N) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += stride) {
        y[i] = alpha * x[i] + y[i];
    }
}
