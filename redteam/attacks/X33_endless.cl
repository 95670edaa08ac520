// attack: X33 never ends
// task: vector_add
// expect: deadline
// launch: grid=(ceil(N/256)) block=(256) shared=0
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    volatile int on = 1;
    while (on) {
    }
}
