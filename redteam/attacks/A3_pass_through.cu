// attack: A3 gives an input back as the output
// task: vector_add
// expect: wrong_values
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) c[i] = a[i];
}
