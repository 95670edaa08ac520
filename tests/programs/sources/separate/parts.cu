// The other half. Its `mine` and its `local` are not those of main.cu.
#include "parts.h"

__device__ int common = 100;
__constant__ int table[4] = {1, 2, 3, 4};
static __device__ int mine = 7;
__device__ int twice(int x) { return 2 * x; }
__device__ __noinline__ static int local(int x) { return x * mine; }
__device__ int (*operation)(int) = twice;

__global__ void other(int *p) { p[threadIdx.x] = local(common + (int)threadIdx.x); }

void second(int *p) { other<<<1, 32>>>(p); }
