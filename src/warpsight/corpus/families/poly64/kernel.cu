// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void poly64(const double* __restrict__ x, const double* __restrict__ c, double* __restrict__ y,
                                  int N, int degree) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
        double v = x[i];
        double sum = c[degree];
        #pragma unroll 4
        for (int k = degree - 1; k >= 0; --k) {
            sum = sum * v + c[k];
        }
        y[i] = sum;
    }
}
