// launch: grid=(ceil(L/8)) block=(32, 8) shared=0
extern "C" __global__ void gather(const float* __restrict__ table, const int* __restrict__ index, float* __restrict__ out,
                                  int L, int D) {
    int row = blockIdx.x * 8 + threadIdx.y;
    if (row >= L) return;
    const float* from = table + (size_t)index[row] * D;
    for (int d = threadIdx.x; d < D; d += 32) out[(size_t)row * D + d] = from[d];
}
