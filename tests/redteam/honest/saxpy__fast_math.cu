// options: --use_fast_math
// launch: grid=(min(ceil(N/256), 864)) block=(256) shared=0
extern "C" __global__ void saxpy(const float* x, float* y, float alpha, int N) {
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += 256 * gridDim.x) y[i] = alpha * x[i] + y[i];
}
