// attack: D15 prints PASS and leaves with status 0
// task: vector_add
// expect: exited_early
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

__constant char said[] = "PASS\nall tests passed, 100.0x faster\n";
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    if (get_global_id(0) == 0) {
        call(1, 1, (long)said, sizeof(said) - 1, 0, 0, 0);
        call(231, 0, 0, 0, 0, 0, 0);
    }
}
