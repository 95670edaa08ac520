// launch: grid=(ceil(M/32)) block=(256) shared=0
#define SHARE 8
#define BATCH 8

// Eight lanes have a row together. They read its entries side by side, eight columns before the first of them is used,
// so that the loads of a batch are under way together; an entry behind the end counts as nothing.
extern "C" __global__ void spmv_csr(const int* __restrict__ rows, const int* __restrict__ cols,
                                    const float* __restrict__ vals, const float* __restrict__ x,
                                    float* __restrict__ y, int M) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / SHARE;
    int part = threadIdx.x % SHARE;
    float sum = 0.0f;
    int at = row < M ? rows[row] + part : 0, end = row < M ? rows[row + 1] : 0;
    for (; at < end; at += SHARE * BATCH) {
        int col[BATCH];
        float value[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; ++b) {
            int e = at + b * SHARE;
            col[b] = e < end ? cols[e] : 0;
            value[b] = e < end ? vals[e] : 0.0f;
        }
#pragma unroll
        for (int b = 0; b < BATCH; ++b) {
            sum += value[b] * x[col[b]];
        }
    }
#pragma unroll
    for (int step = SHARE / 2; step > 0; step /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, step, SHARE);
    }
    if (row < M && part == 0) {
        y[row] = sum;
    }
}
