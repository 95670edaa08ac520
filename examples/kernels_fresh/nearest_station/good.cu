// launch: grid=(ceil(N/128)) block=(128)
// Points of the unit sphere: the nearest has the shortest chord, so angles are taken once for each point and station.
extern "C" __global__ void nearest_station(const float* __restrict__ lat, const float* __restrict__ lon,
                                           const float* __restrict__ slat, const float* __restrict__ slon,
                                           float* __restrict__ km, int N, int M) {
    __shared__ float4 station[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    float x = 0.0f, y = 0.0f, z = 0.0f, nearest = 4.0f;
    if (i < N) {
        float s, c, t, u;
        sincosf(lat[i], &s, &c);
        sincosf(lon[i], &t, &u);
        x = c * u, y = c * t, z = s;
    }
    for (int j0 = 0; j0 < M; j0 += 128) {
        int j = j0 + threadIdx.x, here = min(128, M - j0);
        __syncthreads();
        if (j < M) {
            float s, c, t, u;
            sincosf(slat[j], &s, &c);
            sincosf(slon[j], &t, &u);
            station[threadIdx.x] = {c * u, c * t, s, 0.0f};
        }
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < here; ++k) {
            float4 p = station[k];
            float dx = p.x - x, dy = p.y - y, dz = p.z - z;
            nearest = fminf(nearest, dx * dx + dy * dy + dz * dz);
        }
    }
    if (i < N) km[i] = 2 * 6371.0f * asinf(fminf(sqrtf(nearest) * 0.5f, 1.0f));
}
