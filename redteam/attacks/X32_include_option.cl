// attack: X32 smuggles an include folder into the compile options
// task: vector_add
// expect: request_refused
// options: -I/etc
// launch: grid=(ceil(N/256)) block=(256) shared=0
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {}
