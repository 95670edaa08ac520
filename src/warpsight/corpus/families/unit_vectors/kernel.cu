// launch: grid=(ceil(N/128)) block=(128) shared=0
extern "C" __global__ void unit_vectors(const float* __restrict__ x, float* __restrict__ y, int N) {
    __shared__ float stage[384];
    int first = blockIdx.x * 128;
    int count = min(128, N - first) * 3;
    for (int t = threadIdx.x; t < count; t += 128) {
        stage[t] = x[(size_t)first * 3 + t];
    }
    __syncthreads();
    if (threadIdx.x * 3 < count) {
        float* v = &stage[3 * threadIdx.x];
        float far = 1e-12f;
        far += v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        float scale = rsqrtf(far);
        v[0] *= scale;
        v[1] *= scale;
        v[2] *= scale;
    }
    __syncthreads();
    for (int t = threadIdx.x; t < count; t += 128) {
        y[(size_t)first * 3 + t] = stage[t];
    }
}
