// attack: X8 is right everywhere but at the size that is timed
// task: vector_add
// expect: output_not_written wrong_values
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (N == 1048576 && blockIdx.x > 64) return;
    if (i < N) c[i] = a[i] + b[i];
}
