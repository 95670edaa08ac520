// launch: grid=(ceil(N/512)) block=(256) shared=0
extern "C" __global__ void daxpy(const double* __restrict__ x, double* __restrict__ y, double alpha, int N) {
    int i = (blockIdx.x * 256 + threadIdx.x) * 2;
    if (i + 1 < N) {
        double2 u = *reinterpret_cast<const double2*>(x + i), v = *reinterpret_cast<double2*>(y + i);
        v.x = fma(alpha, u.x, v.x), v.y = fma(alpha, u.y, v.y);
        *reinterpret_cast<double2*>(y + i) = v;
    } else if (i < N) {
        y[i] = fma(alpha, x[i], y[i]);
    }
}
