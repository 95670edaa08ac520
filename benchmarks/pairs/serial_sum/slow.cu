// launch: grid=(N/256) block=(256) shared=0
// The first thread of each block does the work of all of them.
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int values[256];
    values[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
#pragma unroll 1
        for (int j = 0; j < 256; ++j) sum += values[j];
        y[blockIdx.x] = sum;
    }
}
