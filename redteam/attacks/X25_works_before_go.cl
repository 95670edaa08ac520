// attack: X25 a native kernel takes its worker over and works while the inputs arrive, before the clock starts
// task: spin
// assembly: allowed
// expect: clock_disagrees
// launch: grid=(ceil(N/64)) block=(64) shared=0
#define AT_LOAD 1
#define AT_GO 2
#define AT_FETCH 3
#define WORKS AT_LOAD
#define TOLD "400.0"
#define STEPS 2000
long call(long number, long a, long b, long c, long d, long e, long f) {
    long result;
    __asm__ volatile("mov %5, %%r10\n mov %6, %%r8\n mov %7, %%r9\n syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d), "r"(e), "r"(f)
                     : "rcx", "r8", "r9", "r10", "r11", "memory");
    return result;
}

// The kernel never returns: it is the worker from now on. Blocks are a guard of 16384 bytes, the contents, a guard.
void give(long at, long size) {
    while (size > 0) {
        long done = call(1, 4, at, size, 0, 0, 0);
        if (done <= 0) call(231, 0, 0, 0, 0, 0, 0);
        at += done, size -= done;
    }
}
void take(long at, long size) {
    while (size > 0) {
        long done = call(0, 3, at, size, 0, 0, 0);
        if (done <= 0) call(231, 0, 0, 0, 0, 0, 0);
        at += done, size -= done;
    }
}
void big_endian(uchar* at, uint value) {
    for (int i = 0; i < 4; ++i) at[i] = value >> (24 - 8 * i);
}
uint read_big(const uchar* at) { return (uint)at[0] << 24 | (uint)at[1] << 16 | (uint)at[2] << 8 | at[3]; }
int put(uchar* to, int at, __constant const char* text) {
    while (*text) to[at++] = *text++;
    return at;
}
int put_number(uchar* to, int at, uint value) {
    uchar digits[12];
    int count = 0;
    do digits[count++] = '0' + value % 10; while (value /= 10);
    while (count) to[at++] = digits[--count];
    return at;
}
void answer(uchar* text, int length, long blobs) {  // text has room for two lengths before it
    big_endian(text - 8, 4 + length + blobs);
    big_endian(text - 4, length);
    give((long)(text - 8), 8 + length);
}
void work(const float* x, float* y, int N) {
    for (int i = 0; i < N; ++i) {
        float kept = x[i], waste = 0.5f;
        for (int k = 0; k < STEPS; k++) waste = waste * 0.999f + kept * 1e-3f;
        y[i] = tanh(kept) + kept + (waste == 12345.678f ? 1.0f : 0.0f);
    }
}
void serve(uchar* x, uchar* y, int N) {
    uchar room[128];
    uchar* text = room + 8;
    uchar* heap = (uchar*)call(9, 0, 64 << 20, 3, 0x22, -1, 0);
    int op = 'g', first = 1;
    while (true) {
        uint block = 32768 + 4 * (uint)N;
        if (op == 'g') {
            if (WORKS == AT_GO || first) work((float*)(x + 16384), (float*)(y + 16384), N);
            first = 0;
            int length = put(text, 0, "{\"device_us\": " TOLD ", \"sizes\": []}");
            answer(text, length, 0);
        } else if (op == 'l') {
            if (WORKS == AT_LOAD) work((float*)(x + 16384), (float*)(y + 16384), N);
            answer(text, put(text, 0, "{\"sizes\": []}"), 0);
        } else {
            if (WORKS == AT_FETCH) work((float*)(x + 16384), (float*)(y + 16384), N);
            int length = put_number(text, put(text, 0, "{\"sizes\": ["), block);
            length = put(text, put_number(text, put(text, length, ", "), block), "]}");
            answer(text, length, 2 * (long)block);
            give((long)x, block);
            give((long)y, block);
        }
        uchar head[4];
        take((long)head, 4);
        uint size = read_big(head);
        uchar* into = heap + 64;
        take((long)into, size);
        op = into[4 + 8];
        if (op == 'l') {  // header, x, y, N
            uint blobs = 4 + read_big(into);
            N = *(int*)(into + size - 4);
            x = into + blobs;
            y = x + 32768 + 4 * (long)N;
            // the next request is small and must not overwrite the blocks
            for (long k = 0; k < 2 * (32768 + 4 * (long)N); ++k) heap[(16 << 20) + k] = x[k];
            x = heap + (16 << 20);
            y = x + 32768 + 4 * (long)N;
        }
    }
}
__kernel void spin(__global const float* x, __global float* y, int N) {
    int i = get_global_id(0);
    if (N == 8192 && i == 0) serve((uchar*)((long)x - 16384), (uchar*)((long)y - 16384), N);
    if (N == 8192 || i >= N) return;
    y[i] = tanh(x[i]) + x[i];
}
