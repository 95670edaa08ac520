// attack: C10 traces its parent to change its code
// task: vector_add
// expect: forbidden_call
// assembly: allowed
// launch: grid=(ceil(N/256)) block=(256) shared=0
long call(long number, long a, long b, long c, long d, long e, long f) {
    long result;
    __asm__ volatile("mov %5, %%r10\n mov %6, %%r8\n mov %7, %%r9\n syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d), "r"(e), "r"(f)
                     : "rcx", "r8", "r9", "r10", "r11", "memory");
    return result;
}
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    if (get_global_id(0) == 0) call(101, 16, 1, 0, 0, 0, 0);
}
