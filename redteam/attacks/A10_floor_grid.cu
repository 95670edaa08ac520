// attack: A10 rounds the grid down, so that small sizes have no blocks
// task: vector_add
// expect: refused
// launch: grid=(N // 256) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) c[i] = a[i] + b[i];
}
