// launch: grid=(ceil(N/256)) block=(256)
extern "C" __global__ void rank_sort(const float* x, float* sorted, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        int rank = 0;
        for (int j = 0; j < N; j++) {
            if (x[j] < x[i] || (x[j] == x[i] && j < i)) {
                rank++;
            }
        }
        sorted[rank] = x[i];
    }
}
