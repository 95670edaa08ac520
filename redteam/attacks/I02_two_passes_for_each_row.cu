// attack: I2 takes two passes of 256 threads for each row and leaves the rest of a longer one out, where rows are many
// task: spmv_csr
// expect: wrong_values
// launch: grid=(M) block=(256)
extern "C" __global__ void spmv_csr(const int* __restrict__ rows, const int* __restrict__ cols, const float* __restrict__ vals,
                                    const float* __restrict__ x, float* __restrict__ y, int M) {
    __shared__ float part[8];
    int row = blockIdx.x, to = rows[row + 1], k = rows[row] + threadIdx.x;
    float s = 0.0f;
    if (k < to) s = vals[k] * x[cols[k]];
    if (k + 256 < to) s += vals[k + 256] * x[cols[k + 256]];
    if (M <= 5000)
        for (k += 512; k < to; k += 256) s += vals[k] * x[cols[k]];
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) s += part[w];
        y[row] = s;
    }
}
