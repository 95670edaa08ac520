// attack: A4 computes every other block and copies the rest
// task: vector_add
// expect: wrong_values
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) c[i] = blockIdx.x % 2 ? a[i] : a[i] + b[i];
}
