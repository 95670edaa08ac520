// launch: grid=(ceil(N/1024)) block=(256) shared=0
// Whole groups of four go through float4; the last one to three elements are done one by one.
extern "C" __global__ void saxpy(const float* __restrict__ x, float* __restrict__ y, float alpha, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int quads = N / 4;
    if (i < quads) {
        float4 xv = reinterpret_cast<const float4*>(x)[i];
        float4 yv = reinterpret_cast<float4*>(y)[i];
        yv.x = alpha * xv.x + yv.x;
        yv.y = alpha * xv.y + yv.y;
        yv.z = alpha * xv.z + yv.z;
        yv.w = alpha * xv.w + yv.w;
        reinterpret_cast<float4*>(y)[i] = yv;
    }
    int tail = N - quads * 4;
    if (i < tail) {
        int j = quads * 4 + i;
        y[j] = alpha * x[j] + y[j];
    }
}
