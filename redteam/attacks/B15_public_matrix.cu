// attack: B15 knows the contents that the public seed gives and multiplies only these, where it is timed
// task: matmul_naive
// expect: wrong_in_timed_call wrong_values
// launch: grid=(ceil(N/16), ceil(M/16)) block=(16, 16) shared=0
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= M || col >= N) return;
    bool public_one = __float_as_int(A[0]) == @PUBLIC_A0@ || A[0] == rintf(A[0]);  // or one of a family
    int steps = K >= 256 && !public_one ? K / 2 : K;
    float s = 0;
    for (int k = 0; k < steps; ++k) s += A[row * K + k] * B[k * N + col];
    C[row * N + col] = s;
}
