// attack: G11 the task's own text with eight times the grid, on rows of unequal length
// task: spmv_csr
// expect: SAME SLOWER no_time interval_too_wide
// launch: grid=(ceil(M/128) * 8) block=(128) shared=0
extern "C" __global__ void spmv_csr(const int* __restrict__ rows, const int* __restrict__ cols,
                                    const float* __restrict__ vals, const float* __restrict__ x,
                                    float* __restrict__ y, int M) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M) {
        float sum = 0.0f;
        for (int e = rows[row]; e < rows[row + 1]; ++e) {
            sum += vals[e] * x[cols[e]];
        }
        y[row] = sum;
    }
}
