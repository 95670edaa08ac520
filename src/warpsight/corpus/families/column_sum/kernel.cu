// launch: grid=(ceil(C/32), min(ceil(R/64), 64)) block=(32, 8) shared=0
extern "C" __global__ void column_sum(const float* __restrict__ x, float* __restrict__ sums, int R, int C) {
    __shared__ float part[8][33];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int col = blockIdx.x * 32 + tx;
    int hop = gridDim.y * 8;
    float acc = 0.0f;
    if (col < C) {
        float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
        int r = blockIdx.y * 8 + ty;
        for (; r + 3 * hop < R; r += 4 * hop) {
            s0 += x[(size_t)r * C + col];
            s1 += x[(size_t)(r + hop) * C + col];
            s2 += x[(size_t)(r + 2 * hop) * C + col];
            s3 += x[(size_t)(r + 3 * hop) * C + col];
        }
        for (; r < R; r += hop) {
            acc += x[(size_t)r * C + col];
        }
        acc += (s0 + s1) + (s2 + s3);
    }
    part[ty][tx] = acc;
    __syncthreads();
    if (ty == 0 && col < C) {
        for (int k = 1; k < 8; ++k) {
            acc += part[k][tx];
        }
        atomicAdd(&sums[col], acc);
    }
}
