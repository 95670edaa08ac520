// launch: grid=(ceil(N/1024)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int first = blockIdx.x * 1024 + threadIdx.x;
    float x[4], y[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (first + k * 256 < N) x[k] = __ldg(a + first + k * 256), y[k] = __ldcs(b + first + k * 256);
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (first + k * 256 < N) __stcs(c + first + k * 256, x[k] + y[k]);
}
