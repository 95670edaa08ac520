// One hostile kernel, compiled once: `ask[0]` says what to try. Device code is native code, so this is real.
long call(long number, long a, long b, long c, long d, long e, long f) {
    long result;
    __asm__ volatile("mov %5, %%r10\n mov %6, %%r8\n mov %7, %%r9\n syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d), "r"(e), "r"(f)
                     : "rcx", "r8", "r9", "r10", "r11", "memory");
    return result;
}

// A thread that shares everything and waits for ever, on no stack of its own.
long thread(void) {
    long result;
    __asm__ volatile(
        "syscall\n test %%rax, %%rax\n jnz 1f\n 2: mov $34, %%eax\n syscall\n jmp 2b\n 1:"
        : "=a"(result)
        : "a"(56L), "D"(0x10f00L), "S"(0L), "d"(0L)
        : "rcx", "r11", "memory");
    return result;
}

// How many of the eight-byte words equal `wanted`, over the readable pages of a range. msync tells what is mapped.
long found(ulong from, ulong to, ulong wanted) {
    long count = 0;
    for (ulong page = from & ~4095UL; page < to; page += 4096) {
        if (call(26, (long)page, 4096, 1, 0, 0, 0) != 0) {
            continue;
        }
        // A page that is mapped may still be unreadable: the system tells when it is to read a file name there.
        if (call(21, (long)page, 0, 0, 0, 0, 0) == -14) {
            continue;
        }
        for (int i = 0; i < 512; ++i) {
            count += ((volatile ulong*)page)[i] == wanted;
        }
    }
    return count;
}

__kernel void probe(__global long* out, __global const long* ask, __global const uchar* text) {
    long words[8];
    for (int i = 0; i < 8; ++i) {
        words[i] = ask[i] == -7777 ? (long)text : ask[i];
    }
    if (words[0] == 0) {  // one system call
        out[0] = call(words[1], words[2], words[3], words[4], words[5], words[6], words[7]);
    } else if (words[0] == 1) {  // loop for ever
        while (true) {
            __asm__ volatile("" ::: "memory");
        }
    } else if (words[0] == 2) {  // memory until there is none
        for (long i = 0; i < 1000000; ++i) {
            long at = call(9, 0, 64L << 20, 3, 0x22, -1, 0);
            if (at < 0) {
                out[0] = at;
                out[1] = i;
                return;
            }
            for (long page = 0; page < (64L << 20); page += 4096) {
                *(volatile uchar*)(at + page) = 1;
            }
        }
    } else if (words[0] == 3) {  // threads until there are no more
        for (long i = 0; i < 10000; ++i) {
            long made = thread();
            if (made < 0) {
                out[0] = made;
                out[1] = i;
                return;
            }
        }
        out[1] = 10000;
    } else if (words[0] == 4) {  // look for a word around the stack, the heap and the buffers; it comes in two halves
        ulong wanted = (ulong)words[1] ^ (ulong)words[2];
        ulong heap = (ulong)call(12, 0, 0, 0, 0, 0, 0);
        ulong stack = (ulong)&words;
        out[1] = found(heap - (256UL << 20), heap, wanted);
        out[2] = found(stack - (16UL << 20), stack + (16UL << 20), wanted);
        out[3] = found((ulong)text - (64UL << 20), (ulong)text + (64UL << 20), wanted);
        out[0] = out[1] + out[2] + out[3];
    } else if (words[0] == 5) {  // answer in the worker's place, then leave
        out[0] = call(1, 4, (long)text, words[1], 0, 0, 0);
        call(231, 0, 0, 0, 0, 0, 0);
    } else if (words[0] == 6) {  // print without end
        for (long i = 0; i < 100000; ++i) {
            call(1, 1, (long)text, words[1], 0, 0, 0);
        }
    } else if (words[0] == 7) {  // open what `text` names for writing and change it
        long fd = call(2, (long)text, 1 | 02000, 0, 0, 0, 0);
        out[0] = fd;
        out[1] = fd < 0 ? fd : call(1, fd, (long)text, 1, 0, 0, 0);
    } else if (words[0] == 8) {  // a file of a gigabyte in the scratch folder
        long fd = call(2, (long)text, 2 | 0100, 0600, 0, 0, 0);
        out[1] = fd;
        out[0] = call(285, fd, 0, 0, 1L << 30, 0, 0);
    } else if (words[0] == 9) {  // a link out of the scratch folder, then through it; two texts one after the other
        long second = (long)text + words[1];
        out[1] = call(88, (long)text, second, 0, 0, 0, 0);
        out[0] = call(2, second, 0, 0, 0, 0, 0);
    }
}
