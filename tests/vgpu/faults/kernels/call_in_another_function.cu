// The fault lies in a function of its own.
__device__ __noinline__ float look(const float *x, int i) {
    return x[i] * 2.0f; // FAULT: out_of_bounds
}
extern "C" __global__ void k(const float *x, float *y) {
    y[threadIdx.x] = look(x, threadIdx.x * 2);
}
