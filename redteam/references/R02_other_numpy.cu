// launch: grid=(R) block=(256) shared=0
extern "C" __global__ void scan(const float* __restrict__ x, float* __restrict__ y, int C) {
    for (int c = threadIdx.x; c < C; c += 256) y[(size_t)blockIdx.x * C + c] = x[(size_t)blockIdx.x * C + c];
}
