// launch: grid=(ceil(N/256)) block=(256)
extern "C" __global__ void group_sums(const int* key, const float* value, float* sum, int* count, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        atomicAdd(&sum[key[i]], value[i]);
        atomicAdd(&count[key[i]], 1);
    }
}
