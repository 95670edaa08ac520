// launch: grid=(ceil(V/8), ceil(K/32)) block=(32, 8)
// A warp for each row: lanes go along the columns of the dense matrix, and hand each other the edges.
extern "C" __global__ void spmm_csr(const int* __restrict__ start, const int* __restrict__ column,
                                    const float* __restrict__ value, const float* __restrict__ x,
                                    float* __restrict__ y, int V, int K) {
    int row = blockIdx.x * 8 + threadIdx.y, k = blockIdx.y * 32 + threadIdx.x;
    if (row >= V) return;
    int first = start[row], last = start[row + 1];
    float sum = 0.0f;
    for (int e0 = first; e0 < last; e0 += 32) {
        int here = min(32, last - e0), mine = e0 + threadIdx.x;
        int c = mine < last ? column[mine] : 0;
        float w = mine < last ? value[mine] : 0.0f;
#pragma unroll 4
        for (int e = 0; e < here; ++e) {
            int from = __shfl_sync(~0u, c, e);
            float weight = __shfl_sync(~0u, w, e);
            if (k < K) sum += weight * x[(size_t)from * K + k];
        }
    }
    if (k < K) y[(size_t)row * K + k] = sum;
}
