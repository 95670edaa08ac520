// What the kernels beside this need.
#pragma once
#include <cstdio>
#define FACTOR 3
#ifdef NEVER_DEFINED
#error "this part is left out"
#endif
namespace shapes {
struct Pair {
    float first, second;
};
template <typename T>
__host__ __device__ inline T twice(T value) {
    return value + value;
}
}  // namespace shapes
typedef unsigned int word;
void only_on_the_host(FILE *file);
