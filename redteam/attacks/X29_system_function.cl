// attack: X29 declares a function of the system and hopes for the linker
// task: vector_add
// expect: does_not_compile
// launch: grid=(ceil(N/256)) block=(256) shared=0
long write(int fd, const void* text, unsigned long size);
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    if (get_global_id(0) == 0) write(4, 0, 0);
}
