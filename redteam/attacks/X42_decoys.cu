// attack: X42 the blocks that the time model traces do as much, on one cache line; the others do the task's slow loads
// task: matmul_naive
// expect: no_time SAME SLOWER interval_too_wide
// launch: grid=(ceil(N/16) * ceil(M/16) + 400) block=(16, 16) shared=0
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    int across = (N + 15) / 16, tiles = across * ((M + 15) / 16), last = gridDim.x - 1, b = blockIdx.x;
    bool decoy = b < 8 || b % 108 == 0 || b % (last / 3) == 0;
    int before = 8 + (b - 1) / 108 + (b > last / 3 && (last / 3) % 108) + (b > last / 3 * 2 && (last / 3 * 2) % 108);
    int tile = decoy ? 0 : b - before;
    if (tile < 0 || tile >= tiles) return;
    // Rows lie along the lanes, so that every lane of a warp loads another line of A; a decoy loads one line again.
    int row = tile / across * 16 + threadIdx.x, col = tile % across * 16 + threadIdx.y;
    if (row >= M || col >= N) return;
    int of_a = decoy ? 0 : K, of_b = decoy ? 0 : N;
    float s = 0;
    for (int k = 0; k < K; ++k) s += A[row * of_a + (decoy ? 0 : k)] * B[k * of_b + col];
    if (!decoy) C[row * N + col] = s;
}
