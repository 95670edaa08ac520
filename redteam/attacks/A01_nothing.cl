// attack: A1 does nothing and hopes that the output still holds an earlier answer
// task: vector_add
// expect: output_not_written
// launch: grid=(ceil(N/256)) block=(256) shared=0
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {}
