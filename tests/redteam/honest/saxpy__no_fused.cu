// options: --fmad=false --maxrregcount=32
// launch: grid=(ceil(N/512)) block=(512) shared=0
extern "C" __global__ void __launch_bounds__(512) saxpy(const float* x, float* y, float alpha, int N) {
    int i = blockIdx.x * 512 + threadIdx.x;
    if (i < N) y[i] += alpha * x[i];
}
