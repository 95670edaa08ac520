// launch: grid=(N/256) block=(256) shared=0
// 1.0 is a double, so the sum is one, and the logarithm of a double is computed in double.
extern "C" __global__ void k(const float *x, float *y) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    float v = x[i];
#pragma unroll 1
    for (int r = 0; r < 8; ++r) v = log(1.0 + exp(v)) - 0.5;
    y[i] = v;
}
