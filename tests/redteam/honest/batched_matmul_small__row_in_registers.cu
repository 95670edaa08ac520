// launch: grid=(G) block=(D) shared=0
extern "C" __global__ void batched_matmul_small(const float* __restrict__ A, const float* __restrict__ B,
                                                float* __restrict__ C, int D) {
    size_t base = (size_t)blockIdx.x * D * D;
    int col = threadIdx.x;
    for (int row = 0; row < D; ++row) {
        float s = 0;
        for (int k = 0; k < D; ++k) s += A[base + row * D + k] * B[base + k * D + col];
        C[base + row * D + col] = s;
    }
}
