// launch: grid=(N/1024) block=(1024) shared=0
extern "C" __global__ void k(const float *x, float *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
#pragma unroll 1
    for (int j = 0; j < 128; ++j) v = v * 0.999f + 0.5f;
    y[i] = v;
}
