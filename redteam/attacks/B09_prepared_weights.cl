// attack: B9 prepares one input in its first call and never looks at it again
// task: vector_add
// expect: wrong_in_timed_call wrong_values
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
// Memory that outlives the call: zero at first, then what was left there.
volatile int* kept(void) {
    call(9, 0x7000000000L, 64 << 20, 3, 0x100022, -1, 0);
    return (volatile int*)0x7000000000L;
}
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    int i = get_global_id(0);
    volatile int* k = kept();
    volatile float* old = (volatile float*)(k + 64);
    if (i >= N) return;
    if (N == 1048576 && i == 0) k[0]++;
    if (N == 1048576 && k[0] > 2) {
        c[i] = a[i] + old[i];
        return;
    }
    c[i] = a[i] + b[i];
    if (N == 1048576) old[i] = b[i];
}
