// attack: D6 writes a frame of its own to the channel of answers
// task: vector_add
// expect: bad_frame bad_answer
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

__constant char frame[] = "\0\0\0\x1f\0\0\0\x1b{\"device_us\":0,\"sizes\":[]}";
__kernel void vector_add(__global const float* a, __global const float* b, __global float* c, int N) {
    int i = get_global_id(0);
    if (i == 0) call(1, 4, (long)frame, sizeof(frame) - 1, 0, 0, 0);
    if (i < N) c[i] = 0.0f;
}
