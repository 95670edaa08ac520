// launch: grid=(1, ceil(N/256)) block=(256)
extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int N) {
    int i = blockIdx.y * 256 + threadIdx.x;
    if (blockIdx.x + 1 == gridDim.x && i < N) c[i] = a[i] + b[i];
}
