// launch: grid=(N/128) block=(128) shared=32768
// A chain of dependent loads, with far more dynamic shared memory asked for than is used.
extern __shared__ int scratch[];

extern "C" __global__ void k(const int *next, int *y, int steps) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int row = i / 32;
#pragma unroll 1
    for (int s = 0; s < steps; ++s) row = next[row * 32 + lane];
    scratch[threadIdx.x] = row;
    __syncthreads();
    y[i] = scratch[threadIdx.x ^ 1];
}
