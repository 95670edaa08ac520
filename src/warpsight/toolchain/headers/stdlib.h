// The compiler knows abs, malloc and free by itself.
#pragma once
#include <stddef.h>

#ifndef EXIT_SUCCESS
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#endif
