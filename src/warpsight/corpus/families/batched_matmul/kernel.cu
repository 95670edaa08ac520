// launch: grid=(B) block=(16, 16) shared=0
extern "C" __global__ void batched_matmul(const float* __restrict__ a, const float* __restrict__ b,
                                          float* __restrict__ c, int B) {
    __shared__ float left[16][17];
    __shared__ float right[16][17];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    for (int m = blockIdx.x; m < B; m += gridDim.x) {
        size_t base = (size_t)m * 256;
        left[ty][tx] = a[base + ty * 16 + tx];
        right[ty][tx] = b[base + ty * 16 + tx];
        __syncthreads();
        float acc = 0.0f;
        #pragma unroll
        for (int k = 0; k < 16; ++k) {
            acc += left[ty][k] * right[k][tx];
        }
        c[base + ty * 16 + tx] = acc;
        __syncthreads();
    }
}
