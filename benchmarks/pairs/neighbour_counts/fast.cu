// launch: grid=(N/256) block=(256) shared=0
#define CENTRES 128

extern "C" __global__ void k(const float *x, const float *centres, int *counts) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    const float v = x[i];
    int count = 0;
    for (int j = 0; j < CENTRES; ++j) count += fabsf(v - centres[j]) < 0.1f;
    counts[i] = count;
}
