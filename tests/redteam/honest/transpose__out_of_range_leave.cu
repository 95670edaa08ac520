// launch: grid=(ceil(C/64), ceil(R/64)) block=(32, 8) shared=0
// Four tiles a block; whole tiles that lie outside are left at once.
extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int R, int C) {
    __shared__ float tile[32][33];
    for (int part = 0; part < 4; ++part) {
        int c0 = (blockIdx.x * 2 + part % 2) * 32, r0 = (blockIdx.y * 2 + part / 2) * 32;
        if (c0 >= C || r0 >= R) continue;
        for (int j = threadIdx.y; j < 32; j += 8)
            if (r0 + j < R && c0 + threadIdx.x < C) tile[j][threadIdx.x] = x[(size_t)(r0 + j) * C + c0 + threadIdx.x];
        __syncthreads();
        for (int j = threadIdx.y; j < 32; j += 8)
            if (c0 + j < C && r0 + threadIdx.x < R) y[(size_t)(c0 + j) * R + r0 + threadIdx.x] = tile[threadIdx.x][j];
        __syncthreads();
    }
}
