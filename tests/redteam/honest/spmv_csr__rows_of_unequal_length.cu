// launch: grid=(ceil(M/4)) block=(32, 4) shared=0
// A warp a row: blocks take as long as their rows are, and a row without elements is left at once.
extern "C" __global__ void spmv_csr(const int* __restrict__ rows, const int* __restrict__ cols, const float* __restrict__ vals,
                                    const float* __restrict__ x, float* __restrict__ y, int M) {
    int row = blockIdx.x * 4 + threadIdx.y;
    if (row >= M) return;
    int from = rows[row], to = rows[row + 1];
    if (from == to) {
        if (threadIdx.x == 0) y[row] = 0.0f;
        return;
    }
    float s = 0;
    for (int e = from + threadIdx.x; e < to; e += 32) s += vals[e] * x[cols[e]];
    for (int step = 16; step; step /= 2) s += __shfl_down_sync(0xffffffffu, s, step);
    if (threadIdx.x == 0) y[row] = s;
}
