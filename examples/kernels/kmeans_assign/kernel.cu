// launch: grid=(ceil(N/256)) block=(256)
#define D 8

extern "C" __global__ void kmeans_assign(const float* points, const float* centroids, int* label, int N, int K) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float best = 1e30f;
    for (int k = 0; k < K; k++) {
        float distance = 0.0f;
        for (int d = 0; d < D; d++) {
            distance += powf(points[i * D + d] - centroids[k * D + d], 2.0f);
        }
        distance = sqrtf(distance);
        if (distance < best) {
            best = distance;
            label[i] = k;
        }
    }
}
