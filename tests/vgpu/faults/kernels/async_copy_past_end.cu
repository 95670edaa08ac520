#include <cuda_pipeline.h>
extern "C" __global__ void k(const int4 *x, int4 *y) {
    __shared__ int4 tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 16); // FAULT: out_of_bounds
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x];
}
