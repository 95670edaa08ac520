// launch: grid=(N/256) block=(256) shared=0
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ int values[256];
    values[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    for (int s = 128; s > 0; s /= 2) {
        __syncthreads();
        if (threadIdx.x < s) values[threadIdx.x] += values[threadIdx.x + s];
    }
    if (threadIdx.x == 0) y[blockIdx.x] = values[0];
}
