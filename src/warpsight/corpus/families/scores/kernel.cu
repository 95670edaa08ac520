// launch: grid=(ceil(K/32), ceil(Q/16)) block=(32, 8) shared=0
extern "C" __global__ void scores(const float* __restrict__ q, const float* __restrict__ k, float* __restrict__ s, int Q,
                                  int K) {
    __shared__ float qs[16][33];
    __shared__ float ks[32][33];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int col = blockIdx.x * 32 + tx;
    int row = blockIdx.y * 16 + ty;
    for (int j = 0; j < 16; j += 8) {
        qs[ty + j][tx] = row + j < Q ? q[(size_t)(row + j) * 32 + tx] : 0.0f;
    }
    for (int j = 0; j < 32; j += 8) {
        int key = blockIdx.x * 32 + ty + j;
        ks[ty + j][tx] = key < K ? k[(size_t)key * 32 + tx] : 0.0f;
    }
    __syncthreads();
    float a = 0.0f;
    float b = 0.0f;
    #pragma unroll
    for (int d = 0; d < 32; ++d) {
        float v = ks[tx][d];
        a += qs[ty][d] * v;
        b += qs[ty + 8][d] * v;
    }
    if (col < K && row < Q) {
        s[(size_t)row * K + col] = a * 0.17677669f;
    }
    if (col < K && row + 8 < Q) {
        s[(size_t)(row + 8) * K + col] = b * 0.17677669f;
    }
}
