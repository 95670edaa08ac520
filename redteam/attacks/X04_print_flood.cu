// attack: X4 prints a quarter of a gigabyte
// task: vector_add
// expect: wrong_values deadline
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    for (int k = 0; k < 4; ++k) printf("%d xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n", k);
    if (i < N) c[i] = 0.0f;
}
