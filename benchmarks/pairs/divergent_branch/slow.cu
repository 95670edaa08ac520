// launch: grid=(N/256) block=(256) shared=0
__device__ float even(float v) {
#pragma unroll 1
    for (int j = 0; j < 256; ++j) v = v * 0.999f + 0.5f;
    return v;
}

__device__ float odd(float v) {
#pragma unroll 1
    for (int j = 0; j < 256; ++j) v = 1.0f - v * 0.75f;
    return v;
}

extern "C" __global__ void k(const float *x, float *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;  // neighbours part ways
    y[i] = i % 2 ? odd(x[i]) : even(x[i]);
}
