// launch: grid=(ceil(R/128)) block=(128)
#define K 4

extern "C" __global__ void top_k(const float* x, float* value, int* place, int R, int C) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= R) return;
    float best[K];
    int where[K];
    for (int k = 0; k < K; k++) {
        best[k] = -INFINITY;
        where[k] = -1;
    }
    for (int c = 0; c < C; c++) {
        float v = x[r * C + c];
        int k = K;
        while (k > 0 && v > best[k - 1]) k--;
        for (int j = K - 1; j > k; j--) {
            best[j] = best[j - 1];
            where[j] = where[j - 1];
        }
        if (k < K) {
            best[k] = v;
            where[k] = c;
        }
    }
    for (int k = 0; k < K; k++) {
        value[r * K + k] = best[k];
        place[r * K + k] = where[k];
    }
}
