// Short names of whole numbers that Linux gives, and that nvcc brings along with <cuda_runtime.h>.
#pragma once

typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef long ssize_t;
