// attack: A16 writes one element and leaves the rest to somebody else
// task: vector_add
// expect: output_not_written
// launch: grid=(1) block=(1) shared=0
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) { c[0] = a[0] + b[0]; }
