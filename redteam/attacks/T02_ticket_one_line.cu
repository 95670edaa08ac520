// attack: T2 late blocks load sixteen lines a request; early ones as many sectors, of four lines that stay in L1
// task: matmul_naive
// expect: no_time SAME SLOWER interval_too_wide
// baseline: matmul_lanes_down_rows.cu
// launch: grid=(ceil(N/16) * ceil(M/16) + 24) block=(16, 16) shared=0
__device__ unsigned turn;
extern "C" __global__ void matmul_naive(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ unsigned t;
    if (threadIdx.x == 0 && threadIdx.y == 0) t = atomicInc(&turn, gridDim.x - 1);
    __syncthreads();
    int across = (N + 15) / 16, tiles = across * ((M + 15) / 16);
    bool decoy = t < 24;  // as far as a compiler knows, its strides may be anything
    int tile = decoy ? t % tiles : t - 24;
    if (tile >= tiles) return;
    int row = tile / across * 16 + threadIdx.x, col = tile % across * 16 + threadIdx.y;
    if (row >= M || col >= N) return;
    // A decoy reads every eighth float of one short piece, again and again; the others read down a column of A.
    int lane_step = decoy && K * M >= 128 ? 8 : K, k_step = min(t / 24, 1u), first = decoy ? 0 : row - threadIdx.x;
    const volatile float* pa = A + (size_t)first * K + (size_t)threadIdx.x * lane_step;
    const volatile float* pb = B + col;
    float s = 0;
    for (int k = 0; k < K; ++k) s += pa[k * k_step] * pb[k * N];
    if (!decoy) C[row * N + col] = s;
    else if (s == 1.2345e30f) C[0] = s;
}
