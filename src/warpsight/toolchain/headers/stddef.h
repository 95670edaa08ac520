// Sizes and differences; the compiler knows size_t, ptrdiff_t and NULL by itself.
#pragma once

#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
