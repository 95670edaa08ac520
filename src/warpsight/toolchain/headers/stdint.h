// Whole numbers of a fixed width. The 64-bit ones are long long, as in <cuda/std/cstdint>; on Linux nvcc has long.
#pragma once
#include <cuda/std/cstdint>
