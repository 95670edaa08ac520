// launch: grid=(N/256) block=(256) shared=0
extern "C" __global__ void k(const float *x, float *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float v = x[i];
    float sum = 0.0f;
#pragma unroll 1
    for (int j = 0; j < 64; ++j) sum = sum * v + sinf(0.1f * j);  // the same 64 sines in every thread
    y[i] = sum;
}
