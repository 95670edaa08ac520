// launch: grid=(ceil(N/16), ceil(M/16)) block=(16, 16) shared=0
#define TILE 16

__kernel void matmul_tiled(__global const float* restrict A, __global const float* restrict B,
                           __global float* restrict C, int M, int N, int K) {
    __local float tile_a[TILE][TILE];
    __local float tile_b[TILE][TILE];
    int tx = get_local_id(0), ty = get_local_id(1);
    int row = get_global_id(1);
    int col = get_global_id(0);
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        // Outside of the matrices the tiles hold zeros, so every work-item takes part in every barrier.
        tile_a[ty][tx] = (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : 0.0f;
        tile_b[ty][tx] = (k0 + ty < K && col < N) ? B[(k0 + ty) * N + col] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; ++k) {
            sum += tile_a[ty][k] * tile_b[k][tx];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < M && col < N) {
        C[row * N + col] = sum;
    }
}
