// Each thread reads what it copies itself, and waits for it afterwards.
#include <cuda_pipeline.h>
extern "C" __global__ void k(const int4 *x, int4 *y) {
    __shared__ int4 tile[32];
    tile[threadIdx.x] = make_int4(0, 0, 0, 0);
    __syncthreads();
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 16);
    __pipeline_commit();
    y[threadIdx.x] = tile[threadIdx.x]; // FAULT: uninitialised_read
    __pipeline_wait_prior(0);
}
