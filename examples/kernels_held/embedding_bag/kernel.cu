// launch: grid=(ceil(B/128)) block=(128)
extern "C" __global__ void embedding_bag(const float* table, const int* index, float* out, int B, int L, int D) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= B) return;
    for (int d = 0; d < D; d++) {
        out[b * D + d] = 0.0f;
        for (int l = 0; l < L; l++) {
            out[b * D + d] += table[index[b * L + l] * D + d] / L;
        }
    }
}
