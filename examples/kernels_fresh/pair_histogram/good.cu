// launch: grid=(ceil(N/64), ceil(N/256)) block=(256)
// Counts for each warp in shared memory, added once for each block; a thread keeps its own atom and walks 64 others.
extern "C" __global__ void pair_histogram(const int* __restrict__ x, const int* __restrict__ y,
                                          const int* __restrict__ z, int* count, int N) {
    __shared__ int counts[8][101];
    __shared__ int3 others[64];
    int j0 = blockIdx.x * 64, i0 = blockIdx.y * 256, i = i0 + threadIdx.x;
    if (j0 + 63 <= i0) return;
    for (int e = threadIdx.x; e < 8 * 101; e += 256) counts[0][e] = 0;
    if (threadIdx.x < 64 && j0 + threadIdx.x < N) {
        int j = j0 + threadIdx.x;
        others[threadIdx.x] = {x[j], y[j], z[j]};
    }
    __syncthreads();
    if (i < N) {
        int a = x[i], b = y[i], c = z[i], last = min(64, N - j0);
        int* mine = counts[threadIdx.x / 32];
#pragma unroll 4
        for (int k = max(0, i + 1 - j0); k < last; ++k) {
            int3 p = others[k];
            int dx = a - p.x, dy = b - p.y, dz = c - p.z;
            atomicAdd(&mine[(dx * dx + dy * dy + dz * dz) >> 5], 1);
        }
    }
    __syncthreads();
    if (threadIdx.x < 100) {
        int sum = 0;
        for (int w = 0; w < 8; ++w) sum += counts[w][threadIdx.x];
        if (sum) atomicAdd(&count[threadIdx.x], sum);
    }
}
