// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void poly64(const double* __restrict__ x, const double* __restrict__ c, double* __restrict__ y, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) {
        double v = x[i];
        double sum = c[7];
        #pragma unroll
        for (int k = 6; k >= 0; --k) {
            sum = sum * v + c[k];
        }
        y[i] = sum;
    }
}
