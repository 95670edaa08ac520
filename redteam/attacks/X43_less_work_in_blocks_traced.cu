// attack: X43 the blocks that the time model traces do less work than the others, which take less than twice as long
// task: matmul_naive
// expect: no_time SAME SLOWER AMBIGUOUS
// launch: grid=(ceil(N/16) * ceil(M/16) + ceil(N * M/12800) + 32) block=(16, 16) shared=0
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    int across = (N + 15) / 16, tiles = across * ((M + 15) / 16);
    int last = gridDim.x - 1, b = blockIdx.x;
    // The model traces the first eight, every 108th (an A100 has 108 SMs), and four spread over the grid.
    bool traced = b < 8 || b % 108 == 0 || b % (last / 3) == 0;
    int before = b < 8 ? b : 8 + (b - 1) / 108 - 7 / 108 + (b > last / 3 && (last / 3) % 108) + (b > last / 3 * 2 && (last / 3 * 2) % 108);
    int tile = traced ? before : b - before;
    if (tile < 0 || tile >= tiles) return;
    int col = tile % across * 16 + threadIdx.x, row = tile / across * 16 + threadIdx.y;
    if (row >= M || col >= N) return;
    float s = 0;
    for (int k = 0; k < (traced ? K * 3 / 8 : K); ++k) s += A[row * K + k] * B[k * N + col];
    if (!traced) C[row * N + col] = s; else if (s == 12345.678f) C[0] = s;
}
