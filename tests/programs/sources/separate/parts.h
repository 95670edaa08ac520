#pragma once
extern __device__ int common;
extern __constant__ int table[4];
extern __device__ int (*operation)(int);
__device__ int twice(int);
void second(int *);
