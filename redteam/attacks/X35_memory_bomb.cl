// attack: X35 takes memory until there is none
// task: vector_add
// expect: out_of_memory crash output_not_written deadline
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
    if (get_global_id(0)) return;
    for (int i = 0; i < 100000; ++i) {
        long at = call(9, 0, 64 << 20, 3, 0x22, -1, 0);
        if (at < 0) return;
        for (long p = 0; p < (64 << 20); p += 4096) *(volatile char*)(at + p) = 1;
    }
}
