// launch: grid=(ceil(N/256)) block=(256) shared=0
__device__ unsigned tally[1 << 16];
extern "C" __global__ void scatter_add(const float* __restrict__ values, const int* __restrict__ index, float* out, int N) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= N) return;
    atomicAdd(&tally[0], (unsigned)index[i]);
    atomicAdd(&out[index[i]], values[i]);
}
