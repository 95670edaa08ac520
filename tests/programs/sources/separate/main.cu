// One half of a program that is linked on the device side: functions, variables and constants of the other half.
#include <cstdio>

#include "parts.h"

static __device__ int mine = 5;
__device__ __noinline__ static int local(int x) { return x + mine; }

__global__ void first(int *p) {
    extern __shared__ int s[];
    s[threadIdx.x] = twice((int)threadIdx.x) + common + table[threadIdx.x % 4];
    __syncthreads();
    p[threadIdx.x] = local(s[threadIdx.x]) + (operation ? operation(1) : 0);
}

int main() {
    int *p, value = 1000, back = 0;
    cudaMallocManaged(&p, 32 * sizeof(int));
    first<<<1, 32, 128>>>(p);
    cudaDeviceSynchronize();
    printf("%d %d %d\n", p[0], p[5], p[31]);
    cudaMemcpyToSymbol(common, &value, sizeof value);
    second(p);
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&back, common, sizeof back);
    printf("%d %d %d: %s\n", p[0], p[5], back, cudaGetErrorName(cudaGetLastError()));
}
