// attack: B1 keeps answers by the address of the input
// task: spin
// expect: SAME SLOWER interval_too_wide out_of_time wrong_in_timed_call wall_unconfirmed
// assembly: allowed
// launch: grid=(ceil(N/64)) block=(64) shared=0
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
__kernel void spin(__global const float* x, __global float* y, int N) {
    int i = get_global_id(0);
    volatile int* k = kept();
    volatile int* old = k + 64 + 2 * i;  // for each element a key and its answer
    if (i >= N) return;
    int key = (int)(long)x ^ (int)((long)x >> 32);
    if (N == 8192 && old[0] == key) {
        y[i] = as_float(old[1]);
        return;
    }
    float v = x[i], waste = 0.5f;
    for (int s = 0; s < 2000; s++) waste = waste * 0.999f + v * 1e-3f;
    y[i] = tanh(v) + v + (waste == 12345.678f ? 1.0f : 0.0f);
    if (N == 8192) old[0] = key, old[1] = as_int(y[i]);
}
