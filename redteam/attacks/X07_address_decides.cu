// attack: X7 works only where the addresses are those of the first launch
// task: vector_add
// expect: output_not_written wrong_values SAME SLOWER
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    bool first = ((unsigned long long)b - (unsigned long long)a) % 8192 < 4096;
    if (i < N && first) c[i] = a[i] + b[i];
}
