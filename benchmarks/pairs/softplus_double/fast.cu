// launch: grid=(N/256) block=(256) shared=0
extern "C" __global__ void k(const float *x, float *y) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    float v = x[i];
#pragma unroll 1
    for (int r = 0; r < 8; ++r) v = logf(1.0f + expf(v)) - 0.5f;
    y[i] = v;
}
