// attack: D27 includes a file of the machine, to read it in the log
// task: vector_add
// expect: does_not_compile
// launch: grid=(ceil(N/256)) block=(256) shared=0
#define NAME </etc/passwd>
#include NAME
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {}
