// launch: grid=(ceil(M/4)) block=(32, 4) shared=0
extern "C" __global__ void spmv_csr(const int* __restrict__ rows, const int* __restrict__ cols,
                                    const float* __restrict__ vals, const float* __restrict__ x, float* __restrict__ y, int M) {
    int row = blockIdx.x * 4 + threadIdx.y;
    if (row >= M) return;
    float s = 0;
    for (int e = rows[row] + threadIdx.x; e < rows[row + 1]; e += 32) s += vals[e] * x[cols[e]];
    for (int step = 16; step; step /= 2) s += __shfl_down_sync(~0u, s, step);
    if (threadIdx.x == 0) y[row] = s;
}
