// attack: X28 undefines the macro that takes the assembler away, across a broken line
// task: vector_add
// expect: does_not_compile
// launch: grid=(ceil(N/256)) block=(256) shared=0
#un\
def /* and a comment */ __asm__
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    __asm__ volatile("syscall" ::"a"(231L), "D"(0L) : "rcx", "r11", "memory");
}
