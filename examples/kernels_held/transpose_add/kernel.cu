// launch: grid=(ceil(N/16), ceil(N/16)) block=(16, 16)
extern "C" __global__ void transpose_add(const float* A, float* S, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < N && j < N) {
        S[i * N + j] = A[i * N + j] + A[j * N + i];
    }
}
