// attack: E1 drops the last thirteen bits, as tf32 does
// task: matmul_naive
// expect: precision_too_low
// launch: grid=(ceil(N/16), ceil(M/16)) block=(16, 16) shared=0
float few(float v) { return as_float((as_uint(v) + 0x1000u) & 0xffffe000u); }
__kernel void matmul_naive(__global const float* A, __global const float* B, __global float* C, int M, int N, int K) {
    int col = get_global_id(0), row = get_global_id(1);
    if (row >= M || col >= N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += few(A[row * K + k]) * few(B[k * N + col]);
    C[row * N + col] = s;
}
