// attack: D4 writes to addresses of its own choosing
// task: vector_add
// expect: crash
// launch: grid=(ceil(N/256)) block=(256) shared=0
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    int i = get_global_id(0);
    *(__global volatile int*)(0x123450000000UL + i) = 1;
}
