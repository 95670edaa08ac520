// launch: grid=(ceil(C/32), ceil(R/32)) block=(32, 32) shared=0
extern "C" __global__ void transpose(const float* x, float* y, int R, int C) {
    __shared__ float tile[1024];
    int tx = threadIdx.x, ty = threadIdx.y, c = blockIdx.x * 32 + tx, r = blockIdx.y * 32 + ty;
    if (c < C && r < R) tile[ty * 32 + (tx ^ ty)] = x[(size_t)r * C + c];
    __syncthreads();
    c = blockIdx.y * 32 + tx, r = blockIdx.x * 32 + ty;
    if (c < R && r < C) y[(size_t)r * R + c] = tile[tx * 32 + (ty ^ tx)];
}
