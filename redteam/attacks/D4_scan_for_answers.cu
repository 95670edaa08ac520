// attack: D4 looks through memory before the arrays for expected values
// task: vector_add
// expect: out_of_bounds
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    float want = a[0] + b[0];
    const float* p = a - 65536;
    while (p < a && *p != want) ++p;
    if (i < N) c[i] = p[i];
}
