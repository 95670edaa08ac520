// attack: X13 asks for 140 trillion blocks
// task: vector_add
// expect: deadline endless_loop refused out_of_memory interrupted
// launch: grid=(2147483647, 65535, 1) block=(1024) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 1024 + threadIdx.x;
    if (blockIdx.y == 0 && i < N) c[i] = a[i] + b[i];
}
