// launch: grid=(ceil(C/32), ceil(R/32)) block=(32, 32) shared=0
extern "C" __global__ void transpose(const float* x, float* y, int R, int C) {
    __shared__ float tile[1024];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    float v = r < R && c < C ? x[(size_t)r * C + c] : 0.0f;
    for (int t = 0; t < 32; ++t) {
        ((volatile float*)tile)[threadIdx.x * 32 + threadIdx.y] = v + t;
    }
    tile[threadIdx.x * 32 + threadIdx.y] = v;
    __syncthreads();
    int oc = blockIdx.y * 32 + threadIdx.x, orow = blockIdx.x * 32 + threadIdx.y;
    if (orow < C && oc < R) y[(size_t)orow * R + oc] = tile[threadIdx.y * 32 + threadIdx.x];
}
