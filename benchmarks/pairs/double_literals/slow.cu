// launch: grid=(N/256) block=(256) shared=0
extern "C" __global__ void k(const float *x, float *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
#pragma unroll 1
    for (int j = 0; j < 32; ++j) v = v * 0.75 + 0.5;  // literals without f: the arithmetic is in double
    y[i] = v;
}
