// Programs compiled with --default-stream per-thread call other names for the same functions. With everything done at
// once and in order, the default stream of a thread is no other than that of all: each name leads to the plain one.
#if defined(__x86_64__)
#define GO "jmp "
#define AT "@PLT"
#elif defined(__aarch64__)
#define GO "b "
#define AT ""
#endif
#define SAME(name, plain)                                                                                     \
    __asm__(".text\n.globl " #name "\n.type " #name ", %function\n" #name ":\n" GO #plain AT "\n.size " #name \
            ", .-" #name);
#include "per_thread.def"
#undef SAME
