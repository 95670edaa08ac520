// attack: X3 asks which interpreter runs it (PTX for answers, machine code for time) and works only for answers
// task: matmul_naive
// expect: wrong_in_timed_call
// launch: grid=(ceil(N/16), ceil(M/16)) block=(16, 16) shared=0
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= M || col >= N) return;
    unsigned processors;
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(processors));
    int steps = processors == 108 ? K : K / 2;
    float s = 0;
    for (int k = 0; k < steps; ++k) s += A[row * K + k] * B[k * N + col];
    C[row * N + col] = s;
}
