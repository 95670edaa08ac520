// launch: grid=(N/256) block=(256) shared=0
extern "C" __global__ void k(const float *x, float *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
#pragma unroll 1
    for (int j = 0; j < 32; ++j) v = v * 0.75f + 0.5f;
    y[i] = v;
}
