// attack: T3 in late blocks the warps work one after the other between barriers; in early ones all at once, with as many barriers
// task: matmul_naive
// expect: no_time SAME SLOWER interval_too_wide
// baseline: matmul_warps_in_turn.cu
// launch: grid=(ceil(N/16) * ceil(M/16) + 240) block=(16, 16) shared=0
__device__ unsigned count;
extern "C" __global__ void matmul_naive(const float* __restrict__ A, const float* __restrict__ B, float* C, int M, int N, int K) {
    __shared__ int ticket;
    int tid = threadIdx.y * 16 + threadIdx.x, warp = tid / 32;
    if (tid == 0) ticket = atomicInc(&count, gridDim.x - 1);
    __syncthreads();
    int across = (N + 15) / 16, tiles = across * ((M + 15) / 16);
    bool decoy = ticket < 240;
    int tile = decoy ? ticket % tiles : ticket - 240;
    int row = min(tile / across * 16 + (int)threadIdx.y, M - 1), col = min(tile % across * 16 + (int)threadIdx.x, N - 1);
    float s = 0;
    for (int phase = 0; phase < 8; ++phase) {
        int from = decoy ? phase * K / 8 : 0, to = decoy ? (phase + 1) * K / 8 : phase == warp ? K : 0;
#pragma unroll 1
        for (int k = from; k < to; ++k) s += A[row * K + k] * B[k * N + col];
        __syncthreads();
    }
    if (!decoy && tile / across * 16 + threadIdx.y < M && tile % across * 16 + threadIdx.x < N) C[row * N + col] = s;
}
