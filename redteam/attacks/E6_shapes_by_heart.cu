// attack: E6 is right for the sizes of the task and for no others
// task: vector_add
// expect: wrong_values
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    bool known = N == 1000 || N == 4096 || N == 12345 || N == 1 || N == 10007 || N == 257 || N == 1048576;
    if (i < N) c[i] = known ? a[i] + b[i] : 0.0f;
}
