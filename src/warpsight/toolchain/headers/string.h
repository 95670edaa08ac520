// The compiler knows memcpy and memset by itself; the others are simple loops.
#pragma once
#include <stddef.h>

__device__ inline void* memmove(void* to, const void* from, size_t count) {
    char* t = static_cast<char*>(to);
    const char* f = static_cast<const char*>(from);
    if (t < f)
        for (size_t i = 0; i < count; i++) t[i] = f[i];
    else
        for (size_t i = count; i > 0; i--) t[i - 1] = f[i - 1];
    return to;
}

__device__ inline int memcmp(const void* a, const void* b, size_t count) {
    const unsigned char* x = static_cast<const unsigned char*>(a);
    const unsigned char* y = static_cast<const unsigned char*>(b);
    for (size_t i = 0; i < count; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

__device__ inline size_t strlen(const char* text) {
    size_t length = 0;
    while (text[length]) length++;
    return length;
}
