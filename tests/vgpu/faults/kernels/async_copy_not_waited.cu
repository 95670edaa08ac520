// The copy is issued, nothing waits for it.
#include <cuda_pipeline.h>
extern "C" __global__ void k(const int4 *x, int4 *y) {
    __shared__ int4 tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 16);
    __pipeline_commit();
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x ^ 1]; // FAULT: uninitialised_read
}
