// launch: grid=(N/256) block=(256) shared=0
extern "C" __global__ void k(const float *x, float *sums, float *squares, int n, int rows) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[i] = 0.0f;
    squares[i] = 0.0f;
#pragma unroll 1
    for (int r = 0; r < rows; ++r) {
        const float v = x[r * n + i];
        sums[i] += v;  // the two arrays may overlap as far as the compiler knows: both go back and forth each time
        squares[i] += v * v;
    }
}
