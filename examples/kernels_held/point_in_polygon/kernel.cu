// launch: grid=(ceil(N/256)) block=(256)
extern "C" __global__ void point_in_polygon(const float* points, const float* polygon, int* inside, int N, int K) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    inside[i] = 0;
    for (int k = 0; k < K; k++) {
        int before = (k + K - 1) % K;
        float x1 = polygon[2 * k], y1 = polygon[2 * k + 1];
        float x2 = polygon[2 * before], y2 = polygon[2 * before + 1];
        float x = points[2 * i], y = points[2 * i + 1];
        if ((y1 > y) != (y2 > y)) {
            if (x < (x2 - x1) * (y - y1) / (y2 - y1) + x1) {
                inside[i] = !inside[i];
            }
        }
    }
}
