// launch: grid=(N/256) block=(256) shared=0
extern "C" __global__ void k(const float *x, const float *w, float *sums, float *squares, int terms) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float factor = x[i];
    sums[i] = 0.0f;
    squares[i] = 0.0f;
#pragma unroll 1
    for (int j = 0; j < terms; ++j) {
        const float v = factor * w[j];
        sums[i] += v;  // the two arrays may overlap as far as the compiler knows: both go back and forth each time
        squares[i] += v * v;
    }
}
