// launch: grid=(ceil(N/16), ceil(M/16)) block=(16, 16) shared=0
__kernel void matmul_naive(__global const float* A, __global const float* B, __global float* C, int M, int N, int K) {
    __local float a[16][16], b[16][16];
    int tx = get_local_id(0), ty = get_local_id(1), col = get_global_id(0), row = get_global_id(1);
    float s = 0;
    for (int base = 0; base < K; base += 16) {
        a[ty][tx] = row < M && base + tx < K ? A[row * K + base + tx] : 0.0f;
        b[ty][tx] = col < N && base + ty < K ? B[(base + ty) * N + col] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; ++k) s = fma(a[ty][k], b[k][tx], s);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < M && col < N) C[row * N + col] = s;
}
