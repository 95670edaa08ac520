// attack: E7 makes the problem smaller
// task: vector_add
// expect: output_not_written
// launch: grid=(ceil(N/512)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    N /= 2;
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) c[i] = a[i] + b[i];
}
