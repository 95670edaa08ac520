// launch: grid=(min(ceil(N/256), 216)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) c[i] = a[i] + b[i];
}
