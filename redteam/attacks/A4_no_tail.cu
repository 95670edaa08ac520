// attack: A4 leaves the last, partial block out
// task: vector_add
// expect: output_not_written
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N / 256 * 256) c[i] = a[i] + b[i];
}
