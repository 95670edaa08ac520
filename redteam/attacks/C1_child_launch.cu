// attack: C1 launches the work on a stream of its own
// task: vector_add
// expect: does_not_compile
// launch: grid=(1) block=(1) shared=0
__global__ void child(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) c[i] = a[i] + b[i];
}
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    child<<<(N + 255) / 256, 256>>>(a, b, c, N);
}
