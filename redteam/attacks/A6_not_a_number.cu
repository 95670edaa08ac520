// attack: A6 gives NaN, which passes comparisons that ask for a difference
// task: vector_add
// expect: non_finite
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) c[i] = __int_as_float(0x7fc00000);
}
