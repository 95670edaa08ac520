// launch: grid=(ceil(N/256)) block=(256)
extern "C" __global__ void nearest_station(const float* lat, const float* lon, const float* slat, const float* slon,
                                           float* km, int N, int M) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    km[i] = 1e9f;
    for (int j = 0; j < M; j++) {
        float a = sinf((slat[j] - lat[i]) / 2);
        float b = sinf((slon[j] - lon[i]) / 2);
        float h = a * a + cosf(lat[i]) * cosf(slat[j]) * b * b;
        float d = 2 * 6371.0f * asinf(sqrtf(fminf(h, 1.0f)));
        if (d < km[i]) km[i] = d;
    }
}
