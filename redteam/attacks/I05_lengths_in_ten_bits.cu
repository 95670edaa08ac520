// attack: I5 keeps where a row starts and how long it is in one word; ten bits are for the length, where there are many rows
// task: spmv_csr
// expect: wrong_values
// launch: grid=(ceil(M/128)) block=(128)
extern "C" __global__ void spmv_csr(const int* __restrict__ rows, const int* __restrict__ cols, const float* __restrict__ vals,
                                    const float* __restrict__ x, float* __restrict__ y, int M) {
    __shared__ unsigned long long kept[128];
    int row = blockIdx.x * 128 + threadIdx.x;
    if (row < M) {
        unsigned long long length = rows[row + 1] - rows[row];
        kept[threadIdx.x] = (unsigned long long)rows[row] << 24 | (M > 6000 ? length & 1023 : length);
    }
    __syncthreads();
    if (row >= M) return;
    int from = (int)(kept[threadIdx.x] >> 24), n = (int)(kept[threadIdx.x] & 0xffffff);
    float s = 0.0f;
    for (int k = from; k < from + n; ++k) s += vals[k] * x[cols[k]];
    y[row] = s;
}
