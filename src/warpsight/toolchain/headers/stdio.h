// printf is the one function of it that device code has; the compiler knows it by itself.
#pragma once
#include <stddef.h>
