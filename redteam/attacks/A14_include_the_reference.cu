// attack: A14 includes the reference
// task: vector_add
// expect: does_not_compile
// launch: grid=(ceil(N/256)) block=(256) shared=0
#include "reference.py"
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int N) {}
