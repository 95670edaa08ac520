// attack: O12 asks for everything once by prefetches, which may cost nothing here, and then finds it near
// task: daxpy
// expect: SAME SLOWER no_time
// baseline: daxpy_108_blocks.cu
// launch: grid=(min(ceil(N/256), 108)) block=(256) shared=0
extern "C" __global__ void daxpy(const double* __restrict__ x, double* __restrict__ y, double alpha, int N) {
    int stride = gridDim.x * 256, first = blockIdx.x * 256 + threadIdx.x;
    for (int i = first; i < N; i += stride) {
        asm volatile("prefetch.global.L1 [%0];" ::"l"(x + i));
        asm volatile("prefetch.global.L1 [%0];" ::"l"(y + i));
    }
    for (int i = first; i < N; i += stride) y[i] = alpha * x[i] + y[i];
}
