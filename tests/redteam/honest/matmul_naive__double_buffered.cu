// launch: grid=(ceil(N/32), ceil(M/8)) block=(32, 8) shared=0
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float b[2][8][32];
    int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * 32 + tx, row = blockIdx.y * 8 + ty;
    auto fetch = [&](int base, int to) {
        int k = base + ty;
        if (col < N && k < K) {
            unsigned at = __cvta_generic_to_shared(&b[to][ty][tx]);
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(B + k * N + col));
        } else {
            b[to][ty][tx] = 0.0f;
        }
        asm volatile("cp.async.commit_group;");
    };
    float s = 0;
    fetch(0, 0);
    for (int base = 0, at = 0; base < K; base += 8, at ^= 1) {
        fetch(base + 8, at ^ 1);
        asm volatile("cp.async.wait_group 1;");
        __syncthreads();
        for (int k = 0; k < 8 && base + k < K; ++k) s += row < M ? A[row * K + base + k] * b[at][k][tx] : 0.0f;
        __syncthreads();
    }
    asm volatile("cp.async.wait_group 0;");
    if (row < M && col < N) C[row * N + col] = s;
}
