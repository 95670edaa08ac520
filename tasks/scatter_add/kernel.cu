// launch: grid=(ceil(N/256)) block=(256) shared=0
extern "C" __global__ void scatter_add(const float* __restrict__ values, const int* __restrict__ index,
                                       float* out, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        atomicAdd(&out[index[i]], values[i]);
    }
}
