// launch: grid=(N/256) block=(256) shared=0
extern "C" __global__ void k(const float *x, float *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
#pragma unroll 1
    for (int j = 0; j < 8; ++j) v = 0.5f * powf(v, 3.0f) + 0.25f;
    y[i] = v;
}
