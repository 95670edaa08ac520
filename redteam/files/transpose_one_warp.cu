// launch: grid=(1) block=(32) shared=0
extern "C" __global__ void transpose(const float* x, float* y, int R, int C) {
    for (int i = threadIdx.x; i < R * C; i += 32) y[(size_t)(i % C) * R + i / C] = x[i];
}
