// attack: D14 opens the memory of its own process as a file
// task: vector_add
// expect: output_not_written
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

__constant char name[] = "/proc/self/mem";
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    int i = get_global_id(0);
    long fd = i == 0 ? call(2, (long)name, 2, 0, 0, 0, 0) : -1;
    if (fd >= 0 && i < N) c[i] = a[i] + b[i];
}
