// launch: grid=(ceil(L*D/256)) block=(256) shared=0
extern "C" __global__ void gather(const float* __restrict__ table, const int* __restrict__ index,
                                  float* __restrict__ out, int L, int D) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (long long)L * D) {
        int row = (int)(i / D);
        int col = (int)(i % D);
        out[i] = table[(long long)index[row] * D + col];
    }
}
