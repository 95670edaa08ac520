// attack: X22 takes other parameters than the task gives
// task: vector_add
// expect: refused
// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void vector_add(float* c) { c[threadIdx.x] = 0.0f; }
