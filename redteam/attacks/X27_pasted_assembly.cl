// attack: X27 pastes the name of the assembler together
// task: vector_add
// expect: does_not_compile
// launch: grid=(ceil(N/256)) block=(256) shared=0
#define PASTE(x, y) x##y
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    PASTE(__as, m__) volatile("syscall" ::"a"(231L), "D"(0L) : "rcx", "r11", "memory");
}
